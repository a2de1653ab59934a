#include "train/plugin.h"

#include "base/file.h"
#include "base/memory.h"
#include "data/held_out.h"
#include "train/classify/evaluation.h"
#include "train/classify/trainer.h"
#include "train/detect/detector_trainer.h"
#include "train/torch/device.h"
#include "train/torch/torch_runner.h"

namespace sact::train {
namespace {

/// Options of either kind of training; `read` makes settings from JSON.
template <typename Options, typename Read>
Options options_of(const TrainRequest& request, const Read& read) {
  Options options;
  std::string config;
  if (!request.config.empty()) {
    const auto bytes = read_file(request.config, 1 << 20);
    config.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  options.given = [=](auto& settings) {
    if (!request.config.empty()) settings = read(config, request.config, settings);
    for (const std::string& assignment : request.assignments) set_from_text(settings, assignment);
  };
  options.given(options.settings);
  options.run = request.run;
  options.device = request.device;
  options.threads = request.threads;
  options.interrupted = request.interrupted;
  return options;
}

TrainDetectorOutcome train_detector_request(const TrainRequest& request) {
  use_full_precision();
  keep_freed_memory();
  const DetectorTrainResult result =
      train_detector(options_of<DetectorTrainOptions>(request, detection_settings_from_json));
  return {result.first,     result.finished,       result.finished_before,
          result.epochs,    result.steps,          result.seconds,
          result.stored.ap, result.stored.best_ap, result.stored.flops};
}

TrainOutcome train_request(const TrainRequest& request) {
  keep_freed_memory();
  const TrainResult result = train(options_of<TrainOptions>(request, settings_from_json));
  return {result.first,
          result.finished,
          result.finished_before,
          result.epochs,
          result.steps,
          result.seconds,
          result.stored.accuracy,
          result.stored.best_accuracy,
          result.stored.flops,
          result.settings.data,
          data::split_name("val", result.settings.val_split)};
}

}  // namespace

const TorchPlugin* sact_torch_plugin() {
  static const TorchPlugin plugin = {load_with_torch, torch_facts, train_request,
                                     train_detector_request, evaluate_request};
  return &plugin;
}

}  // namespace sact::train
