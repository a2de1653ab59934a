#include "train/classify/evaluation.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/progress.h"
#include "data/order.h"
#include "evaluation/tally.h"
#include "train/classify/augment.h"
#include "train/torch/device.h"
#include "train/torch/network_weights.h"
#include "train/torch/precision.h"
#include "train/torch/torch_runner.h"

namespace sact::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Adds the values of all processes.
void add_up(ProcessGroup& group, std::vector<double>& values) {
  if (group.alone()) return;
  torch::Tensor sums = torch::tensor(values, torch::kFloat64);
  group.sum(sums);
  std::copy_n(sums.data_ptr<double>(), values.size(), values.begin());
}

struct BatchResults {
  std::vector<ImageResult> images;
  std::vector<int> labels;
};

/// Runs a batch, and adds to `seconds` what the network took.
BatchResults run_batch(Network network, const data::Dataset& dataset, const DeviceBatch& batch,
                       const EvaluateOptions& options, double& seconds) {
  const ModelSpec& spec = network->spec();
  Autocast autocast(options.bf16);
  torch::Tensor images = evaluation_batch(batch.pixels, options.size, spec.input);
  if (images.is_cuda()) {
    images = images.contiguous(torch::MemoryFormat::ChannelsLast);
    torch::cuda::synchronize();
  }
  const auto start = Clock::now();
  const NetworkOutput output = network->forward(images, {.halting = options.halting});
  BatchResults results{results_of(spec, output, options.size), {}};
  seconds += seconds_since(start);
  if (options.judge) {
    results.labels = options.judge(images, output);
  } else {
    for (const int64_t index : batch.indices) results.labels.push_back(dataset.label(index));
  }
  return results;
}

void note_answer(const ImageResult& result, int label, int64_t sample, Answers& answers) {
  const std::vector<float>& logits = result.logits;
  if (!std::all_of(logits.begin(), logits.end(),
                   [](float logit) { return std::isfinite(logit); })) {
    return;
  }
  const double highest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - highest);
  answers.classes[size_t(sample)] = 1 + top_classes(logits, 1).front().index;
  answers.entropy_sum += std::log(sum) + highest - logits[size_t(label)];
  ++answers.images;
}

/// All get the answers of all: each sample was seen by one process at most.
void join(ProcessGroup& group, Answers& answers) {
  std::vector<double> sums = {answers.entropy_sum, answers.images};
  add_up(group, sums);
  answers.entropy_sum = sums[0];
  answers.images = sums[1];
  add_up(group, answers.classes);
}

}  // namespace

EvalOutcome evaluate(Network network, DeviceLoader& loader, ProcessGroup& group,
                     const EvaluateOptions& options) {
  const EvaluationMode mode(*network);
  const auto start = Clock::now();
  const data::Dataset& dataset = loader.dataset();
  const auto shard = data::evaluation_shard(data::epoch_order(dataset.size(), 0, 0, false),
                                            group.rank(), group.size());
  Progress progress("evaluating", int64_t(shard.size()), "images");
  evaluation::Tally tally(network->spec().blocks());
  std::vector<double> network_seconds = {0};
  if (options.answers) *options.answers = {std::vector<double>(size_t(dataset.size())), 0, 0};
  const auto pass = loader.pass(shard, options.batch, 0, false);
  DeviceBatch batch;
  while (pass->next(batch)) {
    if (options.interrupted && options.interrupted()) {
      throw Interrupted("the evaluation was interrupted");
    }
    group.expect_others();
    const auto [results, labels] = run_batch(network, dataset, batch, options, network_seconds[0]);
    for (size_t i = 0; i < results.size(); ++i) {
      tally.add(results[i], labels[i]);
      if (options.answers) note_answer(results[i], labels[i], batch.indices[i], *options.answers);
      if (!options.on_image) continue;
      options.on_image(
          {dataset.sample_name(batch.indices[i]), options.size, labels[i], results[i]});
    }
    progress.advance(batch.count());
  }
  progress.finish();
  loader.corrupt().name_lost_classes(dataset);
  add_up(group, tally.sums());
  add_up(group, network_seconds);
  if (options.answers) join(group, *options.answers);
  EvalOutcome outcome = tally.outcome(options.size, dataset.size());
  outcome.seconds = seconds_since(start);
  outcome.network_seconds = network_seconds[0] / group.size();  // they work at the same time
  return outcome;
}

std::vector<EvalOutcome> evaluate_request(const ModelFile& file, const EvaluationRequest& request) {
  const torch::Device asked = device_from_name(request.device);
  ProcessGroup group = request.alone ? ProcessGroup(asked) : ProcessGroup::from_environment(asked);
  set_torch_threads(group.threads(request.threads));
  use_full_precision();
  const auto dataset = evaluation::open_data(request, file.spec());
  Network network = load_network(file);
  network->to(group.device());
  if (group.device().is_cuda()) to_channels_last(*network);
  std::vector<EvalOutcome> outcomes;
  for (const Size& size : request.sizes) {
    if (group.device().is_cpu()) {
      const int64_t batch = std::min<int64_t>(request.batch, dataset->size());
      expect_forward_memory(file.spec(), int(batch), size);
    }
    // Images are decoded anew for every size, so that a result does not depend on the others.
    DeviceLoaderOptions options;
    options.storage_size = evaluation::storage_size(*dataset, size, file.spec());
    options.workers = group.threads(request.workers);
    options.device = group.device();
    options.interrupted = request.interrupted;
    DeviceLoader loader(*dataset, options);
    outcomes.push_back(evaluate(
        network, loader, group,
        {size, request.batch, request.precision == Precision::kBFloat16, request.interrupted,
         [&](const EvaluatedImage& image) { evaluation::report(request, image); }, nullptr,
         request.halting}));
  }
  if (!group.first()) outcomes.clear();
  return outcomes;
}

}  // namespace sact::train
