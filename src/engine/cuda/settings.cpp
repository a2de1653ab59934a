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

/// With so few rows the products of a unit are all on the GPU at once: with fewer they take as
/// long, and the two kernels that write lists come on top. Not measured yet; `bench/cuda.sh` does,
/// in the step `pays`.
constexpr int kDenseRowsPerMultiprocessor = 32;

bool CudaSettings::runs_dense(const cuda::GridShape& grid, int multiprocessors) const {
  if (!lists || !dense) return dense;
  return grid.rows() <= kDenseRowsPerMultiprocessor * multiprocessors;
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
    } else if (word == "tuning") {
      settings.tuning = false;
    } else if (word == "scores") {
      settings.scores = false;
    } else if (word == "lists") {
      settings.lists = false;
    } else if (word == "dense") {
      settings.dense = false;
    } else if (!word.empty()) {
      fail(
          "SACT_CUDA_WITHOUT: '{}' is not known; known are hopper, tensor-cores, overlap, sharing, "
          "graphs, tuning, scores, lists and dense",
          printable(std::string(word)));
    }
  }
  if (!settings.lists && !settings.dense) {
    fail("SACT_CUDA_WITHOUT: a block runs over lists or dense; leave out one of them, not both");
  }
  return settings;
}

CudaSettings cuda_settings(const DeviceFacts& device) {
  const char* without = std::getenv("SACT_CUDA_WITHOUT");
  return cuda_settings(device, without ? without : "");
}

}  // namespace sact::engine
