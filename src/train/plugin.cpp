#include "train/plugin.h"

#include "base/file.h"
#include "data/open.h"
#include "train/device.h"
#include "train/network_weights.h"
#include "train/precision.h"
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
  return {result.first,   result.finished,        result.epochs,        result.steps,
          result.seconds, result.last.accuracy(), result.best_accuracy, result.last.flops.mean};
}

MeanStd plain(const MeanAndDeviation& value) {
  return {value.mean, value.std};
}

std::vector<EvalOutcome> evaluate_request(const ModelFile& file, const EvalRequest& request) {
  const torch::Device asked = device_from_name(request.device);
  Processes processes = request.alone ? Processes(asked) : Processes::from_environment(asked);
  const torch::Device device = processes.device();
  at::set_num_threads(processes.threads(request.threads));
  use_full_precision();
  data::OpenOptions open;
  open.class_names = request.class_names;
  const auto dataset = data::open_dataset(request.data, request.split, open);
  Network network = load_network(file);
  network->to(device);
  if (device.is_cuda()) to_channels_last(*network);
  std::vector<EvalOutcome> outcomes;
  for (const Size& size : request.sizes) {
    // Images are decoded anew for every size, so that a result does not depend on the others.
    FeederOptions feed;
    feed.storage_size =
        suitable_storage_size(*dataset, std::max(size.height, size.width), file.spec().input.crop);
    feed.workers = processes.threads(request.workers);
    feed.device = device;
    feed.interrupted = request.interrupted;
    Feeder feeder(*dataset, feed);
    const Evaluation result = evaluate(network, feeder, processes, size, request.batch,
                                       request.bf16, request.interrupted);
    EvalOutcome outcome{size,
                        result.images,
                        result.accuracy(),
                        result.recall5(),
                        result.seconds,
                        plain(result.flops),
                        {},
                        {}};
    for (const auto& units : result.units) outcome.units.push_back(plain(units));
    for (const auto& cost : result.ponder_cost) outcome.ponder_cost.push_back(plain(cost));
    outcomes.push_back(std::move(outcome));
  }
  if (!processes.first()) outcomes.clear();
  return outcomes;
}

}  // namespace

const TorchPlugin* sact_torch_plugin() {
  static const TorchPlugin plugin = {make_torch_runner, torch_facts, train_request,
                                     evaluate_request};
  return &plugin;
}

}  // namespace sact::train
