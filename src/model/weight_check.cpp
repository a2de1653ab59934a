#include "model/weight_check.h"

#include <cmath>

#include "base/error.h"

namespace sact {
namespace {

/// The head's weight may come as [classes, C] or [classes, C, 1, 1].
io::Shape without_trailing_ones(io::Shape shape, size_t rank) {
  while (shape.size() > rank && shape.back() == 1) shape.pop_back();
  return shape;
}

}  // namespace

bool has_shape_of(const io::TensorView& view, const WeightInfo& weight) {
  return weight.shape == (weight.role == WeightRole::kLinear
                              ? without_trailing_ones(view.shape, weight.shape.size())
                              : view.shape);
}

bool is_floating(io::Dtype dtype) {
  return dtype == io::Dtype::kF32 || dtype == io::Dtype::kF64 || dtype == io::Dtype::kF16 ||
         dtype == io::Dtype::kBF16;
}

std::vector<float> weight_values(const io::TensorView& view, WeightRole role,
                                 const std::string& tensor, const std::string& file_name) {
  std::vector<float> values = io::float_values(view, tensor);
  for (float value : values) {
    if (!std::isfinite(value)) {
      fail(
          "{}: tensor '{}' has values that are not finite; the network was damaged or its training "
          "diverged",
          file_name, tensor);
    }
    if (role == WeightRole::kNormVariance && value < 0) {
      fail("{}: tensor '{}' holds variances, but one is {}", file_name, tensor, value);
    }
  }
  return values;
}

}  // namespace sact
