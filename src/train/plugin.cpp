#include "train/plugin.h"

#include "base/file.h"
#include "train/evaluation.h"
#include "train/torch_runner.h"
#include "train/trainer.h"

namespace sact::train {
namespace {

TrainOutcome train_request(const TrainRequest& request) {
  TrainOptions options;
  if (!request.config.empty()) {
    const auto bytes = read_file(request.config, 1 << 20);
    options.settings = settings_from_json(
        {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, request.config);
  }
  for (const std::string& assignment : request.assignments) {
    set_from_text(options.settings, assignment);
  }
  options.run = request.run;
  options.device = request.device;
  options.threads = request.threads;
  options.interrupted = request.interrupted;
  const TrainResult result = train(options);
  return {result.first,   result.finished,      result.epochs,        result.steps,
          result.seconds, result.last.accuracy, result.best_accuracy, result.last.flops.mean};
}

}  // namespace

const TorchPlugin* sact_torch_plugin() {
  static const TorchPlugin plugin = {make_torch_runner, torch_facts, train_request,
                                     evaluate_request};
  return &plugin;
}

}  // namespace sact::train
