#include "engine/cuda/settings.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"

namespace sact::engine {

const char* CudaSettings::products_name() const {
  switch (products) {
    case cuda::Products::kHopper:
      return "wgmma";
    case cuda::Products::kMma:
      return "mma";
    case cuda::Products::kPlain:
      return "plain";
  }
  return "";
}

CudaSettings cuda_settings(const DeviceFacts& device, std::string_view without) {
  CudaSettings settings;
  settings.overlap = device.has_hopper();
  settings.products = device.has_hopper() ? cuda::Products::kHopper : cuda::Products::kMma;
  while (!without.empty()) {
    const std::string_view word = without.substr(0, without.find(','));
    without.remove_prefix(std::min(word.size() + 1, without.size()));
    if (word == "hopper") {
      settings.products = std::min(settings.products, cuda::Products::kMma);
    } else if (word == "tensor-cores") {
      settings.products = cuda::Products::kPlain;
    } else if (word == "overlap") {
      settings.overlap = false;
    } else if (word == "sharing") {
      settings.sharing = false;
    } else if (word == "graphs") {
      settings.graphs = false;
    } else if (word == "scores") {
      settings.scores = false;
    } else if (!word.empty()) {
      fail(
          "SACT_CUDA_WITHOUT: '{}' is not known; known are hopper, tensor-cores, overlap, sharing, "
          "graphs and scores",
          printable(std::string(word)));
    }
  }
  return settings;
}

CudaSettings cuda_settings(const DeviceFacts& device) {
  const char* without = std::getenv("SACT_CUDA_WITHOUT");
  return cuda_settings(device, without ? without : "");
}

}  // namespace sact::engine
