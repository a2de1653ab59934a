#include "cli/compute_options.h"

#include "base/log.h"
#include "cli/interrupt.h"
#include "model/detection.h"
#include "model/hard_budget.h"

namespace sact::cli {
namespace {

app::Compute compute_of(const BackendOptions& wanted, const CommonOptions& common) {
  const bool own = wanted.dtype == kOwnType;
  return {wanted.name,
          common.device,
          own ? Precision::kFloat32 : precision_from_name(wanted.dtype),
          own,
          common.threads,
          {.backend = "--backend", .device = "--device", .precision = "--dtype"},
          {},
          wanted.exact};
}

}  // namespace

std::vector<std::string> dtype_names() {
  std::vector<std::string> names = precision_names();
  names.emplace_back(kOwnType);
  return names;
}

void add_backend_options(CLI::App& command, BackendOptions& options, bool detectors) {
  command
      .add_option("--backend", options.name,
                  detectors ? "What runs the detector: engine or, on GPUs, cuda (default: the one "
                              "that runs on the device)"
                            : "What runs the network: engine or, on GPUs, cuda, which skip what "
                              "has halted, or torch (default: engine on the CPU, torch on CUDA)")
      ->check(CLI::IsMember(app::backends().names()));
  add_dtype_option(command, options.dtype);
  add_exact_option(command, options.exact);
}

void add_dtype_option(CLI::App& command, std::string& dtype) {
  command
      .add_option("--dtype", dtype,
                  "Type of the operands of products: fp32; bf16 for speed; int8 for more, if the "
                  "model was exported with --dtype int8; auto: int8 for such models, else fp32")
      ->check(CLI::IsMember(dtype_names()))
      ->capture_default_str();
}

void add_exact_option(CLI::App& command, bool& exact) {
  command.add_flag("--exact", exact,
                   "Direct products in all layers of the engine: no 3x3 convolutions over tiles, "
                   "which take fewer multiplications and round in other places");
}

app::Compute chosen_compute(const BackendOptions& wanted, const CommonOptions& common,
                            bool detector) {
  const app::Compute compute = compute_of(wanted, common);
  BackendRequest request = compute.request();
  request.detector = detector;
  app::backends().choose(request);
  return compute;
}

void add_halting_options(CLI::App& command, HaltingRequest& request) {
  request.terms = {"--halting-shift", "--budget", "--hard-budget"};
  command
      .add_option("--halting-shift", request.shift,
                  "Added to halting scores before their sigmoid: above 0 less work is done, below "
                  "more (default: 0)")
      ->check(number_between(-kMostHaltingShift, kMostHaltingShift));
  command
      .add_option("--budget", request.budget,
                  "Share of the dense network's FLOPs to reach on average, such as 0.6, by the "
                  "curve that 'sact calibrate' stored in the model")
      ->check(number_between(0, 100));
  command
      .add_option("--hard-budget", request.hard_budget,
                  "Share of the dense network's FLOPs that no image may exceed")
      ->check(number_between(0, 100));
}

HaltingControl chosen_halting(const HaltingRequest& request, const ModelFile& model, Size size) {
  const HaltingControl control =
      halting_control(request, model.spec(), model.dial(), printable(model.name()));
  if (control.limits_images()) HardBudget(image_network(model.spec()), size, control.hard_budget);
  if (request.budget != 0 && model.dial()->size != size) {
    const Size measured = model.dial()->size;
    log_warning("--budget: the curve of {} was measured at {}x{}; at {}x{} it is a guess",
                printable(model.name()), measured.height, measured.width, size.height, size.width);
  }
  return control;
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
  app::Compute compute = compute_of(options.backend, common);
  compute.halting = options.halting;
  return app::evaluate_model(model, std::move(request), compute);
}

}  // namespace sact::cli
