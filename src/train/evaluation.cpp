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
  ++count_;
  sum_ += value;
  squares_ += value * value;
}

MeanAndDeviation Moments::result() const {
  if (count_ == 0) return {};
  const double mean = sum_ / double(count_);
  return {mean, std::sqrt(std::max(0.0, squares_ / double(count_) - mean * mean))};
}

Evaluation evaluate(Network network, Feeder& feeder, Size size, int batch_size, bool bf16,
                    const std::function<bool()>& interrupted) {
  torch::NoGradGuard no_grad;
  const bool was_training = network->is_training();
  network->eval();
  const ModelSpec& spec = network->spec();
  const auto start = std::chrono::steady_clock::now();
  const int64_t count = feeder.dataset().size();
  Progress progress("evaluating", count, "images");
  Evaluation result;
  Moments flops;
  std::vector<Moments> units(size_t(spec.blocks())), ponder(size_t(spec.blocks()));
  const auto pass = feeder.pass(data::epoch_order(count, 0, 0, false), batch_size, 0, false);
  DeviceBatch batch;
  while (pass->next(batch)) {
    if (interrupted && interrupted()) fail("the evaluation was interrupted");
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
  result.flops = flops.result();
  for (const Moments& moments : units) result.units.push_back(moments.result());
  for (const Moments& moments : ponder) result.ponder_cost.push_back(moments.result());
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace sact::train
