#include "train/evaluation.h"

#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/progress.h"
#include "data/order.h"
#include "train/augment.h"
#include "train/precision.h"

namespace sact::train {

void Moments::add(double value) {
  sums_[0] += 1;
  sums_[1] += value;
  sums_[2] += value * value;
}

MeanAndDeviation Moments::result() const {
  const auto [count, sum, squares] = sums_;
  if (count == 0) return {};
  const double mean = sum / count;
  return {mean, std::sqrt(std::max(0.0, squares / count - mean * mean))};
}

namespace {

/// Adds up the counts and moments of all processes.
void join(Processes& processes, Evaluation& result, const std::vector<Moments*>& moments) {
  if (processes.alone()) return;
  // Counts stay exact: they are far below 2^53.
  std::vector<double> values = {double(result.images), double(result.correct),
                                double(result.correct5)};
  for (Moments* item : moments) {
    values.insert(values.end(), item->sums().begin(), item->sums().end());
  }
  torch::Tensor sums = torch::tensor(values, torch::kFloat64).to(processes.device());
  processes.sum(sums);
  sums = sums.cpu();
  const double* next = sums.data_ptr<double>();
  for (int64_t* count : {&result.images, &result.correct, &result.correct5}) {
    *count = int64_t(*next++);
  }
  for (Moments* item : moments) {
    for (double& sum : item->sums()) sum = *next++;
  }
}

}  // namespace

Evaluation evaluate(Network network, Feeder& feeder, Processes& processes, Size size,
                    int batch_size, bool bf16, const std::function<bool()>& interrupted) {
  torch::NoGradGuard no_grad;
  const bool was_training = network->is_training();
  network->eval();
  const ModelSpec& spec = network->spec();
  const auto start = std::chrono::steady_clock::now();
  const auto shard = data::evaluation_shard(data::epoch_order(feeder.dataset().size(), 0, 0, false),
                                            processes.rank(), processes.size());
  Progress progress("evaluating", int64_t(shard.size()), "images");
  Evaluation result;
  Moments flops;
  std::vector<Moments> units(size_t(spec.blocks())), ponder(size_t(spec.blocks()));
  const auto pass = feeder.pass(shard, batch_size, 0, false);
  DeviceBatch batch;
  while (pass->next(batch)) {
    if (interrupted && interrupted()) throw Interrupted("the evaluation was interrupted");
    NetworkOutput output;
    {
      Autocast autocast(bf16);
      torch::Tensor images = evaluation_batch(batch.pixels, size, spec.input);
      if (images.is_cuda()) images = images.contiguous(torch::MemoryFormat::ChannelsLast);
      output = network->forward(images);
    }
    const int64_t top = std::min<int64_t>(5, spec.classes);
    const torch::Tensor best =
        std::get<1>(output.logits.to(torch::kFloat32).topk(top, 1)).eq(batch.labels.unsqueeze(1));
    result.correct += best.narrow(1, 0, 1).sum().item<int64_t>();
    result.correct5 += best.sum().item<int64_t>();
    result.images += batch.count();
    for (int64_t image : image_flops(spec, output, size)) flops.add(double(image));
    for (size_t block = 0; block < units.size(); ++block) {
      const torch::Tensor n = output.blocks[block].units.mean({1, 2}).cpu();
      const torch::Tensor rho = output.blocks[block].ponder_cost.mean({1, 2}).cpu();
      for (int64_t i = 0; i < batch.count(); ++i) {
        units[block].add(n[i].item<double>());
        ponder[block].add(rho[i].item<double>());
      }
    }
    progress.advance(batch.count());
  }
  progress.finish();
  if (was_training) network->train();
  std::vector<Moments*> moments = {&flops};
  for (auto* list : {&units, &ponder}) {
    for (Moments& item : *list) moments.push_back(&item);
  }
  join(processes, result, moments);
  result.flops = flops.result();
  for (const Moments& item : units) result.units.push_back(item.result());
  for (const Moments& item : ponder) result.ponder_cost.push_back(item.result());
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace sact::train
