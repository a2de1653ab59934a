// What happened to every layer in a run: which kernel took how many rows, how threads shared them,
// and why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/session.h"
#include "engine/cpu/plan.h"

namespace sact::engine {

/// How threads share a product: each takes one of the parts of rows and one of the columns.
struct Split {
  int row_parts = 1, column_parts = 1;
  const char* why = "";
};

/// What happened to one layer in the last run.
struct LayerProfile {
  double seconds = 0;  // of the first thread
  int64_t rows = 0;    // of all threads
  Split split;
  kernels::TapChoice taps;
};

/// The same, with what the plan knows of the layer.
struct DescribedLayer {
  std::string name;
  int taps = 1, depth = 0, columns = 0;
  bool score = false;  // a halting score, which is worked out in 32 bits always
  LayerProfile profile;
  kernels::DataType type = kernels::DataType::kFloat32;  // of its operands
  kernels::WeightStorage stored = kernels::WeightStorage::kOperand;

  std::string product() const { return product_text(taps, depth, columns); }
  double operations() const { return 2.0 * double(profile.rows) * taps * depth * columns; }
};

/// All layers and halting scores of a plan, in the order in which they run. `profile` is a
/// session's of that plan.
std::vector<DescribedLayer> described_layers(const Plan& plan,
                                             const std::vector<LayerProfile>& profile);

/// One line for a person: what ran, on which kernel, and why that way.
std::string line_of(const DescribedLayer& layer, const Plan& plan);

}  // namespace sact::engine
