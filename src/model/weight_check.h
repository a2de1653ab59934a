// Whether a tensor of a file can be a weight of a network, and its values.
#pragma once

#include <string>
#include <vector>

#include "model/weights.h"

namespace sact {

/// Whether a tensor has the shape of a weight. The head's may come as [classes, C, 1, 1].
bool has_shape_of(const io::TensorView& view, const WeightInfo& weight);
/// Whether it holds floating point numbers.
bool is_floating(io::Dtype dtype);
/// The values of a weight's tensor as float. Throws sact::Error where one is not finite, or a
/// variance below 0. `tensor` and `file_name` are used in messages.
std::vector<float> weight_values(const io::TensorView& view, WeightRole role,
                                 const std::string& tensor, const std::string& file_name);

}  // namespace sact
