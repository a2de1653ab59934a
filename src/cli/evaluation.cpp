#include "cli/evaluation.h"

#include "base/log.h"
#include "cli/interrupt.h"
#include "cli/torch_plugin.h"

namespace sact::cli {

CLI::Option* add_evaluation_options(CLI::App& command, EvaluationOptions& options) {
  evaluation::Request& request = options.request;
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
  evaluation::Request request = options.request;
  const Backend backend = request.alone ? chosen_backend(options.backend, common)
                                        : chosen_shared_backend(options.backend, common);
  for (const std::string& remark : model.remarks()) log_warning("{}", remark);
  if (request.sizes.empty()) {
    request.sizes.push_back({model.spec().input.size, model.spec().input.size});
  }
  request.device = common.device;
  request.threads = common.threads;
  const Precision precision = precision_from_name(options.backend.dtype);
  request.bf16 = precision == Precision::kBFloat16;
  catch_interrupts();
  request.interrupted = was_interrupted;
  if (backend == Backend::kTorch) {
    return {model.name(), model.spec(), torch_plugin().evaluate(model, request)};
  }
  const std::unique_ptr<Runner> runner = make_runner(model, common, backend, precision);
  return {model.name(), model.spec(), evaluation::evaluate(*runner, model.spec(), request)};
}

}  // namespace sact::cli
