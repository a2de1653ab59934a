// The layers of a detector that say where objects may be, on a GPU: a 3x3 convolution of the
// features with a ReLU after it, and of that a score and four numbers for the box of every anchor.
#pragma once

#include <memory>

#include "backend/session.h"
#include "engine/cuda/session.h"

namespace sact::engine {

struct CudaProposalPlan {
  CudaProposalPlan(const ModelSpec& detector, const WeightSource& weights, cuda::Element type);

  cuda::Element type;
  int anchors = 0;  // of a position
  LayerMemory memory;
  DeviceLayer hidden;
  DeviceLayer outputs;  // scores, and after them the numbers of the boxes
};

/// Belongs to one thread of its user at a time.
class CudaProposals {
 public:
  explicit CudaProposals(std::shared_ptr<const CudaProposalPlan> plan) : plan_(std::move(plan)) {}

  /// `features` are those that the session has left, of one image.
  AnchorOutputs run(const CudaSession& session, const CudaSession::DeviceFeatures& features);

  /// Memory of the device for features of so many positions.
  int64_t bytes_needed(int64_t positions) const;

 private:
  int64_t hidden_bytes(int64_t positions) const;
  int64_t output_bytes(int64_t positions) const;
  void prepare(int64_t positions);

  std::shared_ptr<const CudaProposalPlan> plan_;
  DeviceMemory memory_;
  PinnedMemory pinned_;
};

}  // namespace sact::engine
