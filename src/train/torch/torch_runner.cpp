#include "train/torch/torch_runner.h"

#include <torch/version.h>

#include <chrono>
#include <cstring>
#include <mutex>

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

/// What all sessions of a network share.
struct SharedNetwork {
  SharedNetwork(const NetworkSource& source, torch::Device where)
      : network(make_network(source.spec, weights_from(source))), device(where) {
    network->to(device);
  }

  static std::vector<Weight> weights_from(const NetworkSource& source) {
    std::vector<Weight> weights;
    for (const WeightInfo& info : weight_list(source.spec)) {
      weights.push_back({info, source.weights(info)});
    }
    return weights;
  }

  Network network;
  torch::Device device;
  std::mutex mutex;
};

/// The images of a view as LibTorch's layers take them, [N, 3, H, W].
torch::Tensor planes_of(const InputView& input) {
  const int64_t count = input.count, height = input.size.height, width = input.size.width;
  float* values = const_cast<float*>(input.values.data());
  if (input.layout == InputLayout::kPlanes) {
    return torch::from_blob(values, {count, 3, height, width}, torch::kFloat32);
  }
  return torch::from_blob(values, {count, height, width, 3}, torch::kFloat32)
      .permute({0, 3, 1, 2})
      .contiguous();
}

class TorchSession : public NetworkSession {
 public:
  TorchSession(std::shared_ptr<SharedNetwork> shared, const HaltingControl& halting)
      : shared_(std::move(shared)), halting_(halting) {}

  void expect_memory(int count, Size size) const override {
    if (shared_->device.is_cpu()) expect_forward_memory(shared_->network->spec(), count, size);
  }

  std::vector<ImageResult> run(const InputView& input) override {
    validate_image_size(input.size);
    SACT_ASSERT(input.complete() && input.channels == 3);
    const std::lock_guard lock(shared_->mutex);
    expect_memory(input.count, input.size);
    torch::InferenceMode inference;
    const torch::Tensor images = planes_of(input).to(shared_->device);
    return results_of(shared_->network->spec(),
                      shared_->network->forward(images, {.halting = halting_}), input.size);
  }

 private:
  std::shared_ptr<SharedNetwork> shared_;
  HaltingControl halting_;
};

class TorchNetwork : public LoadedNetwork {
 public:
  explicit TorchNetwork(std::shared_ptr<SharedNetwork> shared) : shared_(std::move(shared)) {}
  std::unique_ptr<NetworkSession> session(int /*threads: all have those of LibTorch*/,
                                          const HaltingControl& halting) const override {
    return std::make_unique<TorchSession>(shared_, halting);
  }

 private:
  std::shared_ptr<SharedNetwork> shared_;
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
      fmt::format("running {} of {}x{}", pluralize(count, "image"), size.height, size.width));
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

std::shared_ptr<const LoadedNetwork> load_with_torch(const NetworkSource& source,
                                                     const LoadOptions& options) {
  SACT_ASSERT(options.precision == Precision::kFloat32);
  set_torch_threads(options.threads);  // Debian's LibTorch starts with one
  use_full_precision();
  return std::make_shared<TorchNetwork>(
      std::make_shared<SharedNetwork>(source, device_from_name(options.device)));
}

TorchFacts torch_facts(int threads) {
  set_torch_threads(threads);
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
