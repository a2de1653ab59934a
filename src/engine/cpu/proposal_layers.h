// The layers of a detector that say where objects may be: a 3x3 convolution of the features with a
// ReLU after it, and of that a score and four numbers for the box of every anchor.
#pragma once

#include <memory>
#include <vector>

#include "backend/session.h"
#include "detect/crop.h"
#include "engine/cpu/layer_team.h"
#include "engine/cpu/plan.h"
#include "engine/rows.h"

namespace sact::engine {

struct ProposalPlan {
  ProposalPlan(const ModelSpec& detector, const WeightSource& weights,
               const kernels::Table& kernel_table, kernels::DataType operands,
               Multiplications multiplications = Multiplications::kFewest);

  const kernels::Table& table;
  kernels::DataType type;
  Arena arena;  // of the weights
  int layers = 0;
  PackedLayer hidden, score, box;
};

/// Runs them; belongs to one thread of its user at a time.
class ProposalSession : private LayerTeam {
 public:
  ProposalSession(std::shared_ptr<const ProposalPlan> plan, std::shared_ptr<ThreadTeam> team);

  /// `features` are those of one image.
  AnchorOutputs run(const detect::FeatureMap& features);

  using LayerTeam::profile;
  using LayerTeam::set_profiling;

 private:
  void prepare(Size size);
  void take_memory(Size size, int64_t transformed);
  void work(int thread, const detect::FeatureMap& features, AnchorOutputs& outputs);
  void convolve(int thread);

  std::shared_ptr<const ProposalPlan> plan_;
  Grid grid_;
  int tile_side_ = 0;   // of the convolution; 0: direct
  RowList tiles_;       // all of them
  RowList neighbours_;  // where it is direct
  Arena arena_{0};
  // What the arena is for: rows, and bytes of transformed inputs of all threads.
  int64_t held_rows_ = 0, held_transformed_ = 0;
  // Operands, [rows, channels]; the features have a row of zeros after the last.
  void *features_ = nullptr, *hidden_ = nullptr;
  void* transformed_ = nullptr;
};

}  // namespace sact::engine
