// Plain values that the library gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sact {

/// When a network stops: a plain network never does before its last unit, ACT has one halting score
/// per image, SACT one per position.
enum class Halting { kNone, kAct, kSact };

/// In what the operands of a network's products are held. Sums and the residual stream have 32 bits
/// always. Whole numbers of 8 bits need a model that was calibrated for them; kFloat16 runs on GPUs
/// alone.
enum class Precision { kFloat32, kBFloat16, kInt8, kFloat16 };

/// A two-dimensional map of numbers, such as the ponder cost of every position of a block.
struct Map {
  int height = 0;
  int width = 0;
  std::vector<float> values;  // rows from top to bottom

  Map() = default;
  Map(int h, int w, float value = 0) : height(h), width(w), values(size_t(h) * size_t(w), value) {}
  float& at(int y, int x) { return values[size_t(y) * size_t(width) + size_t(x)]; }
  float at(int y, int x) const { return values[size_t(y) * size_t(width) + size_t(x)]; }
};

/// One block of one image. A plain block gives every position all its units: N = rho = L.
struct BlockResult {
  Map ponder_cost;             // rho of every position
  std::vector<int32_t> units;  // N of every position, in the order of ponder_cost.values
};

}  // namespace sact
