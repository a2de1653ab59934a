// A network prepared for the CPU: folded weights, packed for the kernels of this processor. It
// depends on the model alone; sessions share it.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/arena.h"
#include "engine/cpu/quantized.h"
#include "engine/cpu/tile_weights.h"
#include "engine/folding.h"
#include "kernels/cpu/kernels.h"
#include "model/model_file.h"

namespace sact::engine {

/// A convolution or fully connected layer, packed.
struct PackedLayer {
  std::string name;
  int index = 0;  // among all layers of the plan
  int kernel = 1, stride = 1;
  Domain domain = Domain::kDense;
  bool relu = false;  // after it
  kernels::PackedWeights weights;
  std::vector<float> bias;    // for whole panels
  std::vector<float> scales;  // as of a RowProduct, for whole panels; where there are none, empty
  std::shared_ptr<TileWeights> tiles = nullptr;  // where it can run over tiles

  kernels::DataType type() const { return weights.type->type; }
};

/// A halting score before its sigmoid; see FoldedScore.
struct PackedScore {
  std::string name;
  int index = 0;                                            // among all layers of the plan
  const float* taps = nullptr;                              // [9, C], null for ACT
  std::array<float, kernels::kScoreStride> tap_shift = {};  // what a tap in the image adds besides
  std::vector<float> global;                                // [C], times the mean over positions
  float shift = 0;
};

/// A residual unit; see UnitSteps.
struct PackedUnit {
  std::optional<Affine> preactivation;  // whole numbers: what makes them of rows, in every unit
  std::optional<PackedLayer> shortcut;
  std::vector<PackedLayer> layers;
  bool relu = false;  // after the sum
  std::optional<PackedScore> score;
};

/// From a block's output to the outputs of the network, for each image.
struct PackedHead {
  std::optional<Affine> norm;
  PackedLayer layer;
};

/// Whether 3x3 convolutions may run over tiles, which takes fewer multiplications and rounds in
/// other places, or all are direct products.
enum class Multiplications { kFewest, kDirect };

/// Puts layers into an arena, in the layout of one table of kernels, and numbers them.
class Packing {
 public:
  Packing(const kernels::Table& table, kernels::DataType type, Multiplications multiplications);

  /// Weights of 32 bits that all fit 16 are stored so, with their scales beside them.
  PackedLayer layer(FoldedLayer unscaled, LayerScales scales = {});
  /// The same in floats, whatever the others are.
  PackedLayer float_layer(FoldedLayer unscaled);
  /// The rows of the kernel become taps; a tap's depth is the width and the colours, as they lie in
  /// an image.
  PackedLayer stem(FoldedLayer unscaled);
  PackedScore score(const FoldedScore& folded);

  int count() const { return count_; }  // of layers and scores
  Arena take_arena() { return std::move(arena_); }

 private:
  PackedLayer pack(FoldedLayer source, kernels::DataType type,
                   const kernels::WeightStrides& strides, int taps, int depth,
                   LayerScales scales = {});

  /// What layers have that do not run in whole numbers.
  kernels::DataType float_type() const;

  const kernels::Table& table_;
  const kernels::DataType type_;
  const Multiplications multiplications_;
  Arena arena_;
  int count_ = 0;
};

struct Plan {
  /// What runs on images: of a detector its extractor, another network as it is. `type` is that of
  /// the operands of products; sums and the residual stream have 32 bits always. Whole numbers need
  /// scales, and leave stem and head to floats.
  Plan(const ModelFile& file, const kernels::Table& table,
       kernels::DataType type = kernels::DataType::kFloat32);
  Plan(const ModelSpec& spec, const WeightSource& weights, const kernels::Table& table,
       kernels::DataType type, Multiplications multiplications = Multiplications::kFewest,
       const InputScales& scales = {}, const std::string& name = {});

  ModelSpec spec;
  const kernels::Table& table;
  kernels::DataType type;
  Arena arena;  // of the weights
  /// As many taps as the kernel has rows; their depth is its width times 3 colours. None where
  /// features enter.
  std::optional<PackedLayer> stem;
  std::vector<std::vector<PackedUnit>> blocks;
  std::optional<PackedHead> head;  // none where features leave
  int layers = 0;

  const kernels::TypedFunctions& functions() const { return table.functions(type); }
};

}  // namespace sact::engine
