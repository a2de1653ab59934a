// Working out the spec of a network from the names and shapes of its weights.
#pragma once

#include <string>

#include "io/safetensors.h"
#include "model/spec.h"

namespace sact {

/// For files without a spec, such as published `resnetv2` weights. Throws sact::Error, saying what
/// is missing, when the tensors are not a network of ours.
ModelSpec spec_from_weights(const io::TensorTable& tensors, const std::string& file_name);

}  // namespace sact
