// What the program finds in libsact_cuda.so; see component.h.
#include <cuda_runtime_api.h>

#include "base/log.h"
#include "base/precision.h"
#include "base/text.h"
#include "engine/cuda/component.h"
#include "engine/cuda/detector_session.h"
#include "engine/cuda/session.h"

namespace sact::engine {
namespace {

void log_session(Precision precision, const DeviceFacts& device) {
  log_verbose("the CUDA engine runs in {} on {}", precision_name(precision), device.name);
}

class CudaNetwork : public LoadedNetwork {
 public:
  CudaNetwork(std::shared_ptr<const CudaPlan> plan, Precision precision)
      : plan_(std::move(plan)), precision_(precision) {}

  std::unique_ptr<NetworkSession> session(int, const HaltingControl& halting) const override {
    log_session(precision_, plan_->device);
    return std::make_unique<CudaSession>(plan_, halting);
  }
  int sessions_in_turns() const override { return 2; }
  KernelFacts kernels() const override {
    const char* products = plan_->type == cuda::Element::kFloat32
                               ? "plain"
                               : cuda_settings(plan_->device).products_name();
    return {fmt::format("sm_{}{} {}", plan_->device.major, plan_->device.minor, products),
            precision_name(precision_), plan_->device.name};
  }

 private:
  std::shared_ptr<const CudaPlan> plan_;
  Precision precision_;
};

class CudaDetector : public LoadedDetector {
 public:
  CudaDetector(std::shared_ptr<const CudaDetectorPlan> plan, Precision precision)
      : plan_(std::move(plan)), precision_(precision) {}

  const ModelSpec& spec() const override { return plan_->spec; }
  std::unique_ptr<DetectorSession> session(int, const HaltingControl& halting) const override {
    log_session(precision_, plan_->extractor->device);
    return std::make_unique<CudaDetectorSession>(plan_, halting);
  }

 private:
  std::shared_ptr<const CudaDetectorPlan> plan_;
  Precision precision_;
};

cuda::Element element_of(Precision precision) {
  switch (precision) {
    case Precision::kBFloat16:
      return cuda::Element::kBFloat16;
    case Precision::kFloat16:
      return cuda::Element::kFloat16;
    default:
      return cuda::Element::kFloat32;
  }
}

std::shared_ptr<const LoadedNetwork> load(const NetworkSource& source, const LoadOptions& options) {
  return std::make_shared<CudaNetwork>(
      std::make_shared<CudaPlan>(source.spec, source.weights, element_of(options.precision),
                                 open_device()),
      options.precision);
}

std::shared_ptr<const LoadedDetector> load_detector(const NetworkSource& source,
                                                    const LoadOptions& options) {
  return std::make_shared<CudaDetector>(
      std::make_shared<CudaDetectorPlan>(source.spec, source.weights, element_of(options.precision),
                                         open_device()),
      options.precision);
}

CudaFacts facts() {
  const DeviceFacts device = open_device();
  size_t free = 0, total = 0;
  expect(cudaMemGetInfo(&free, &total), "the GPU's memory");
  return {device.name, fmt::format("{}.{}", device.major, device.minor), int64_t(total)};
}

}  // namespace

const CudaPlugin* sact_cuda_plugin() {
  static const CudaPlugin plugin = {load, load_detector, facts};
  return &plugin;
}

}  // namespace sact::engine
