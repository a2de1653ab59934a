#include "train/plugin.h"

#include "base/memory.h"
#include "train/adapt/task.h"
#include "train/classify/evaluation.h"
#include "train/classify/task.h"
#include "train/detect/task.h"
#include "train/loop/trainer.h"
#include "train/torch/device.h"
#include "train/torch/torch_runner.h"

namespace sact::train {
namespace {

TrainOutcome train_request(const TrainRequest& request) {
  keep_freed_memory();
  ClassifierTask task;
  return run_training(task, request);
}

TrainOutcome train_detector_request(const TrainRequest& request) {
  use_full_precision();
  keep_freed_memory();
  DetectorTask task;
  return run_training(task, request);
}

TrainOutcome adapt_request(const TrainRequest& request) {
  keep_freed_memory();
  AdaptTask task;
  return run_training(task, request);
}

}  // namespace

const TorchPlugin* sact_torch_plugin() {
  static const TorchPlugin plugin = {load_with_torch, torch_facts, train_request,
                                     train_detector_request, adapt_request,
                                     evaluate_request};
  return &plugin;
}

}  // namespace sact::train
