// Images that somebody has prepared for the network: the tensor `image` of a safetensors file.
#pragma once

#include <filesystem>
#include <vector>

#include "backend/input_view.h"

namespace sact::app {

struct TensorInput {
  std::vector<float> planes;  // [count, 3, height, width], normalised
  int count = 0;
  Size size;

  InputView view() const { return planes_view(planes, count, size); }
};

/// sact::Error where the file has no such tensor, or one of another shape, of a size that no
/// network takes, or with values that are not finite.
TensorInput read_tensor_input(const std::filesystem::path& path);

}  // namespace sact::app
