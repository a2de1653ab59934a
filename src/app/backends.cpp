#include "app/backends.h"

#include <algorithm>
#include <cstdlib>

#include "app/torch_plugin.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/threads.h"
#include "engine/backends.h"

namespace sact::app {
namespace {

/// LibTorch stands behind libsact_torch.so, which only what runs there opens.
class TorchBackend : public Backend, private DatasetEvaluator {
 public:
  TorchBackend() {
    capabilities_.types = {{"cpu", Precision::kFloat32},
                           {"cuda", Precision::kFloat32},
                           {"cuda", Precision::kBFloat16, /*evaluation_only=*/true}};
    capabilities_.shares_processes = true;
  }

  std::string name() const override { return "torch"; }
  const Capabilities& capabilities() const override { return capabilities_; }
  std::shared_ptr<const LoadedNetwork> load(const NetworkSource& source,
                                            const LoadOptions& options) const override {
    return torch_plugin().load(source, options);
  }
  const DatasetEvaluator* evaluator() const override { return this; }

 private:
  std::vector<EvalOutcome> evaluate(const ModelFile& file,
                                    const EvaluationRequest& request) const override {
    return torch_plugin().evaluate(file, request);
  }

  Capabilities capabilities_;
};

LoadOptions load_options(const Compute& compute) {
  return {compute.device, compute.precision, thread_count(compute.threads), {}, compute.exact};
}

/// Calls make(threads) for each of those that run at the same time.
template <typename Make>
auto sharing_threads(size_t images, const Compute& compute, int64_t bytes, const Make& make) {
  const int threads = thread_count(compute.threads);
  const int count = images_at_a_time(images, threads, bytes);
  std::vector<decltype(make(1))> all;
  for (int i = 0; i < count; ++i) all.push_back(make(std::max(1, threads / count)));
  return all;
}

}  // namespace

const BackendRegistry& backends() {
  static const BackendRegistry all = [] {
    BackendRegistry registry;
    engine::add_backends(registry);
    registry.add(std::make_unique<TorchBackend>());
    engine::add_gpu_backends(registry);
    return registry;
  }();
  return all;
}

Precision precision_for(const ModelFile& model, const Compute& compute) {
  if (!compute.own_precision) return compute.precision;
  const bool engine = compute.backend.empty() || compute.backend == "engine";
  const bool can_run = compute.device == "cpu" && engine && !model.spec().detection;
  return can_run && !model.input_scales().empty() ? Precision::kInt8 : Precision::kFloat32;
}

Compute compute_for(const ModelFile& model, const Compute& compute) {
  Compute own = compute;
  own.precision = precision_for(model, compute);
  own.own_precision = false;
  return own;
}

bool among_several_processes() {
  const char* size = std::getenv("WORLD_SIZE");
  return size && std::string_view(size) != "1";
}

int images_at_a_time(size_t images, int threads, int64_t bytes) {
  if (log_level() >= LogLevel::kVerbose) return 1;  // what is told of layers is of one image
  const uint64_t most = std::min<uint64_t>(images, uint64_t(threads));
  const uint64_t affordable = available_memory() / 2 / uint64_t(std::max<int64_t>(bytes, 1));
  return int(std::max<uint64_t>(1, std::min(most, affordable)));
}

std::shared_ptr<const LoadedNetwork> load_network(const NetworkSource& source,
                                                  const Compute& compute) {
  return backends().choose(compute.request()).load(source, load_options(compute));
}

std::shared_ptr<const LoadedDetector> load_detector(const ModelFile& model,
                                                    const Compute& compute) {
  BackendRequest request = compute.request();
  request.detector = true;
  return backends().choose(request).load_detector(detector_of(model), load_options(compute));
}

std::unique_ptr<NetworkSession> open_session(const ModelFile& model, const Compute& asked) {
  const Compute compute = compute_for(model, asked);
  return load_network(image_network_of(model), compute)
      ->session(thread_count(compute.threads), compute.halting);
}

std::vector<std::unique_ptr<NetworkSession>> open_sessions(const ModelFile& model,
                                                           const Compute& asked, size_t images,
                                                           Size size) {
  const Compute compute = compute_for(model, asked);
  const auto network = load_network(image_network_of(model), compute);
  return sharing_threads(images, compute, network->bytes_needed(1, size),
                         [&](int threads) { return network->session(threads, compute.halting); });
}

std::vector<std::unique_ptr<detect::ObjectDetector>> open_detectors(const ModelFile& model,
                                                                    const Compute& asked,
                                                                    size_t images) {
  const Compute compute = compute_for(model, asked);
  const auto network = load_detector(model, compute);
  const int side = model.spec().detection->shorter_side;
  const int64_t bytes = network->bytes_needed({side, 2 * side});  // few are longer
  return sharing_threads(images, compute, bytes, [&](int threads) {
    return std::make_unique<detect::ObjectDetector>(*network, threads, compute.halting);
  });
}

}  // namespace sact::app
