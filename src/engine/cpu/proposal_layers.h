// The layers of a detector that say where objects may be: a 3x3 convolution of the features with a
// ReLU after it, and of that a score and four numbers for the box of every anchor.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/cpu/layer_team.h"
#include "engine/cpu/plan.h"
#include "engine/rows.h"

namespace sact::engine {

struct ProposalPlan {
  ProposalPlan(const ModelSpec& detector, const WeightSource& weights,
               const kernels::Table& kernel_table, kernels::DataType operands);

  const kernels::Table& table;
  kernels::DataType type;
  Arena arena;  // of the weights
  int layers = 0;
  PackedLayer hidden, score, box;
};

/// What the network says of the anchors of one image.
struct AnchorOutputs {
  std::vector<float> scores;  // [positions, anchors]
  std::vector<float> codes;   // [positions, anchors, 4]
};

/// Runs them; belongs to one thread of its user at a time.
class ProposalSession : private LayerTeam {
 public:
  ProposalSession(std::shared_ptr<const ProposalPlan> plan, std::shared_ptr<ThreadTeam> team);

  /// `features` are those of one image, [positions of the grid, channels].
  AnchorOutputs run(std::span<const float> features, Size grid);

 private:
  void prepare(Size size);
  void work(int thread, const float* features, AnchorOutputs& outputs);

  std::shared_ptr<const ProposalPlan> plan_;
  Grid grid_;
  RowList neighbours_;
  Arena arena_{0};
  int held_ = 0;  // rows that the arena is for
  // Operands, [rows, channels]; the features have a row of zeros after the last.
  void *features_ = nullptr, *hidden_ = nullptr;
};

}  // namespace sact::engine
