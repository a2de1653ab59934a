#include "engine/cuda/component.h"

#include "base/component.h"
#include "base/error.h"

namespace sact::engine {
namespace {

constexpr char kFile[] = "libsact_cuda.so";

const CudaPlugin& open_plugin() {
  const std::filesystem::path path = find_part(kFile);
  if (path.empty()) {
    fail(
        "this build of sact is without the CUDA engine ({}); install the package sact-cuda, or "
        "build with -DSACT_CUDA_ENGINE=ON where nvcc is",
        why_no_part(kFile));
  }
  const auto entry = reinterpret_cast<decltype(&sact_cuda_plugin)>(
      open_component(path, "the CUDA engine", "sact_cuda_plugin"));
  return *entry();
}

class CudaBackend : public Backend {
 public:
  CudaBackend() {
    if (!has_cuda_component()) return;
    capabilities_.types = {{"cuda", Precision::kFloat32},
                           {"cuda", Precision::kBFloat16},
                           {"cuda", Precision::kFloat16}};
    capabilities_.detectors = true;
    capabilities_.prescribes_units = true;
    capabilities_.steers = true;
  }

  std::string name() const override { return "cuda"; }
  const Capabilities& capabilities() const override { return capabilities_; }
  std::shared_ptr<const LoadedNetwork> load(const NetworkSource& source,
                                            const LoadOptions& options) const override {
    return cuda_component().load(source, options);
  }
  std::shared_ptr<const LoadedDetector> load_detector(const NetworkSource& source,
                                                      const LoadOptions& options) const override {
    return cuda_component().load_detector(source, options);
  }

 private:
  Capabilities capabilities_;
};

}  // namespace

bool has_cuda_component() {
  return !find_part(kFile).empty();
}

const CudaPlugin& cuda_component() {
  static const CudaPlugin& plugin = open_plugin();
  return plugin;
}

std::unique_ptr<const Backend> make_cuda_backend() {
  return std::make_unique<CudaBackend>();
}

}  // namespace sact::engine
