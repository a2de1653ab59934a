// A network prepared for running: norms folded into the products that follow them, weights packed
// for the kernels of this processor. It depends on the model alone; sessions share it.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/arena.h"
#include "kernels/cpu/kernels.h"
#include "model/model_file.h"

namespace sact::engine {

/// A norm in inference: scale * x + shift for every channel.
struct Affine {
  std::vector<float> scale, shift;
};

/// A convolution or fully connected layer, with the norm after it folded in.
struct Layer {
  std::string name;
  int index = 0;  // among all layers of the plan
  kernels::PackedWeights weights;
  std::vector<float> bias;  // for whole panels
};

/// A halting score before its sigmoid: taps and global with their norms folded in.
struct Score {
  std::string name;
  int index = 0;                                            // among all layers of the plan
  float* taps = nullptr;                                    // [9, C], null for ACT
  std::array<float, kernels::kScoreStride> tap_shift = {};  // what a tap in the image adds besides
  std::vector<float> global;                                // [C], times the mean over positions
  float shift = 0;
};

struct Unit {
  Affine norm1;
  std::optional<Layer> shortcut;  // of a block's first unit
  Layer conv1, conv2;
  std::optional<Layer> conv3;  // of bottleneck units
  std::optional<Score> score;
};

/// From a block's output to the outputs of the network, for each image.
struct Head {
  Affine norm;
  Layer layer;
};

/// What the arena of a plan takes at a time.
inline constexpr size_t kWeightPieceBytes = size_t{16} << 20;

/// Gives the values of a weight.
using WeightSource = std::function<std::vector<float>(const WeightInfo&)>;

struct Plan {
  /// What runs on images: of a detector its extractor, another network as it is. `type` is that of
  /// the operands of products; sums and the residual stream have 32 bits always.
  Plan(const ModelFile& file, const kernels::Table& table,
       kernels::DataType type = kernels::DataType::kFloat32);
  Plan(const ModelSpec& spec, const WeightSource& weights, const kernels::Table& table,
       kernels::DataType type);

  ModelSpec spec;
  const kernels::Table& table;
  kernels::DataType type;
  Arena arena;  // of the weights
  /// As many taps as the kernel has rows; their depth is its width times 3 colours. None where
  /// features enter.
  std::optional<Layer> stem;
  std::vector<std::vector<Unit>> blocks;
  std::optional<Head> head;  // none where features leave
  int layers = 0;

  const kernels::TypedFunctions& functions() const { return table.functions(type); }
};

}  // namespace sact::engine
