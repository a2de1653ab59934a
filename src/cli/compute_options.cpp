#include "cli/compute_options.h"

#include "cli/interrupt.h"

namespace sact::cli {
namespace {

app::Compute compute_of(const BackendOptions& wanted, const CommonOptions& common) {
  return {wanted.name,
          common.device,
          precision_from_name(wanted.dtype),
          common.threads,
          {.backend = "--backend", .device = "--device", .precision = "--dtype"}};
}

}  // namespace

void add_backend_options(CLI::App& command, BackendOptions& options) {
  command
      .add_option("--backend", options.name,
                  "What runs the network: engine, which skips what has halted, or torch "
                  "(default: engine on the CPU, torch on CUDA)")
      ->check(CLI::IsMember(app::backends().names()));
  add_dtype_option(command, options.dtype);
}

void add_dtype_option(CLI::App& command, std::string& dtype) {
  command.add_option("--dtype", dtype, "Type of the operands of products: fp32, or bf16 for speed")
      ->check(CLI::IsMember(precision_names()))
      ->capture_default_str();
}

app::Compute chosen_compute(const BackendOptions& wanted, const CommonOptions& common) {
  const app::Compute compute = compute_of(wanted, common);
  app::backends().choose(compute.request());
  return compute;
}

CLI::Option* add_evaluation_options(CLI::App& command, EvaluationOptions& options) {
  EvaluationRequest& request = options.request;
  CLI::Option* data =
      command.add_option("--data", request.data, "Image folder, CIFAR-10 folder or synthetic")
          ->type_name("DATA");
  command
      .add_option("--split", request.split,
                  "Part of the data set; val:0.1 is what val_split=0.1 held out in training")
      ->capture_default_str();
  command.add_option("--class-names", request.class_names, "File with class names")
      ->type_name("FILE");
  command.add_option("--batch", request.batch, "Images at a time")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  command.add_option("--workers", request.workers, "Decoding threads (default: all)")
      ->check(CLI::Range(1, 1024));
  add_backend_options(command, options.backend);
  return data;
}

std::vector<Size> parse_sizes(const std::vector<std::string>& texts) {
  std::vector<Size> sizes;
  for (const std::string& text : texts) sizes.push_back(parse_size(text));
  return sizes;
}

EvalResult evaluate_model(const ModelFile& model, const EvaluationOptions& options,
                          const CommonOptions& common) {
  EvaluationRequest request = options.request;
  catch_interrupts();
  request.interrupted = was_interrupted;
  return app::evaluate_model(model, std::move(request), compute_of(options.backend, common));
}

}  // namespace sact::cli
