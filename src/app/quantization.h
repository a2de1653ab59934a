// Scales of whole numbers for a network, from what its layers read on photographs.
#pragma once

#include <functional>
#include <vector>

#include "app/inputs.h"
#include "model/activation_range.h"
#include "model/model_file.h"

namespace sact::app {

struct QuantizationOptions {
  std::vector<Input> photographs;
  int64_t most = 256;  // photographs, taken evenly from all
  int threads = 0;     // 0: all that this process may use
  RangeMethod method = RangeMethod::kMse;
  std::function<bool()> interrupted = {};
};

struct Quantization {
  InputScales scales;
  int64_t photographs = 0;  // that were seen
};

/// Runs the network in 32 bits on the photographs, at the size of its evaluations. `spec` has the
/// input that it shall see. sact::Interrupted when it was interrupted.
Quantization choose_scales(const ModelFile& model, const ModelSpec& spec,
                           const QuantizationOptions& options);

}  // namespace sact::app
