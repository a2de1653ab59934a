#include "train/torch/torch_runner.h"

#include <torch/version.h>

#include <chrono>
#include <cstring>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "train/torch/device.h"
#include "train/torch/network_weights.h"

namespace sact::train {
namespace {

Map map_of(const torch::Tensor& tensor) {
  Map map(int(tensor.size(0)), int(tensor.size(1)));
  std::memcpy(map.values.data(), tensor.data_ptr<float>(), map.values.size() * sizeof(float));
  return map;
}

class TorchRunner : public Runner {
 public:
  TorchRunner(const ModelFile& file, torch::Device device)
      : network_(load_network(file)), device_(device) {
    network_->to(device);
  }

  void expect_memory(int count, Size size) const override {
    if (device_.is_cpu()) expect_forward_memory(network_->spec(), count, size);
  }

  std::vector<ImageResult> run(const std::vector<float>& planes, int count, Size size) override {
    validate_image_size(size);
    expect_memory(count, size);
    SACT_ASSERT(int64_t(planes.size()) == 3 * count * size.positions());
    torch::InferenceMode inference;
    const torch::Tensor images =
        torch::from_blob(const_cast<float*>(planes.data()), {count, 3, size.height, size.width},
                         torch::kFloat32)
            .to(device_);
    return results_of(network_->spec(), network_->forward(images), size);
  }

 private:
  Network network_;
  torch::Device device_;
};

}  // namespace

void expect_forward_memory(const ModelSpec& spec, int count, Size size) {
  // What is alive at the widest place: a unit's input, what its layers make of it, and with halting
  // the states and their mean.
  const int64_t copies = spec.adaptive() ? 6 : 4;
  int64_t widest = 0;
  if (spec.stem != Stem::kNone) {
    widest = spec.stem_size(size).positions() * spec.stem_channels();
  }
  for (int block = 0; block < spec.blocks(); ++block) {
    widest =
        std::max(widest, spec.block_size(block, size).positions() * spec.block_channels(block));
  }
  const int64_t values = copies * widest + 2 * 3 * size.positions();
  sact::expect_memory(
      uint64_t(4 * count * values),
      fmt::format("running {} of {}x{}", counted(count, "image"), size.height, size.width));
}

std::vector<ImageResult> results_of(const ModelSpec& spec, const NetworkOutput& output, Size size) {
  std::vector<ImageResult> results(static_cast<size_t>(output.features.size(0)));
  torch::Tensor logits;
  if (output.logits.defined()) {
    logits = output.logits.to(torch::kCPU, torch::kFloat32).contiguous();
  }
  for (size_t i = 0; i < results.size() && logits.defined(); ++i) {
    const float* row = logits[int64_t(i)].data_ptr<float>();
    results[i].logits.assign(row, row + logits.size(1));
  }
  for (const BlockOutput& block : output.blocks) {
    const torch::Tensor ponder = block.ponder_cost.to(torch::kCPU, torch::kFloat32).contiguous();
    const torch::Tensor units = block.units.to(torch::kCPU, torch::kInt32).contiguous();
    for (size_t i = 0; i < results.size(); ++i) {
      const torch::Tensor row = units[int64_t(i)];
      const int32_t* data = row.data_ptr<int32_t>();
      results[i].blocks.push_back(
          {map_of(ponder[int64_t(i)]), std::vector<int32_t>(data, data + row.numel())});
    }
  }
  set_flops(spec, size, results);
  return results;
}

std::unique_ptr<Runner> make_torch_runner(const ModelFile& file, const std::string& device,
                                          int threads) {
  at::set_num_threads(threads);  // Debian's LibTorch starts with one
  use_full_precision();
  return std::make_unique<TorchRunner>(file, device_from_name(device));
}

TorchFacts torch_facts(int threads) {
  at::set_num_threads(threads);
  TorchFacts facts;
  facts.version = TORCH_VERSION;
  facts.threads = at::get_num_threads();
  if (torch::cuda::is_available()) facts.cuda_devices = int(torch::cuda::device_count());
  torch::InferenceMode inference;
  const torch::Tensor a = torch::randn({1024, 1024});
  for (int i = 0; i < 3; ++i) {  // the best of three: the first also starts threads
    const auto start = std::chrono::steady_clock::now();
    const torch::Tensor product = a.mm(a);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    facts.matmul_gflops =
        std::max(facts.matmul_gflops, 2.0 * 1024 * 1024 * 1024 / taken.count() * 1e-9);
  }
  return facts;
}

}  // namespace sact::train
