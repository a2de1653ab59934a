#include "engine/cuda/proposals.h"

#include <algorithm>

#include "base/error.h"

namespace sact::engine {
namespace {

/// Two layers of the same input as one.
FoldedLayer beside(FoldedLayer left, const FoldedLayer& right) {
  SACT_ASSERT(left.step.in == right.step.in && left.step.kernel == right.step.kernel);
  left.step.out += right.step.out;
  left.weights.insert(left.weights.end(), right.weights.begin(), right.weights.end());
  left.bias.insert(left.bias.end(), right.bias.begin(), right.bias.end());
  return left;
}

}  // namespace

CudaProposalPlan::CudaProposalPlan(const ModelSpec& detector, const WeightSource& weights,
                                   cuda::Element elements)
    : type(elements), memory(elements) {
  const Folding folding(detector, weights);
  const ProposalSteps& steps = *folding.architecture().proposals;
  SACT_ASSERT(steps.box.out == 4 * steps.score.out);
  anchors = steps.score.out;
  hidden = memory.put_layer(folding.layer(steps.hidden));
  outputs = memory.put_layer(beside(folding.layer(steps.score), folding.layer(steps.box)));
  memory.wait();
}

int64_t CudaProposals::hidden_bytes(int64_t positions) const {
  constexpr int64_t kAlignment = 256;
  const int64_t bytes = positions * plan_->hidden.columns * cuda::bytes_of(plan_->type);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

int64_t CudaProposals::output_bytes(int64_t positions) const {
  return positions * plan_->outputs.columns * int64_t(sizeof(float));
}

int64_t CudaProposals::bytes_needed(int64_t positions) const {
  return hidden_bytes(positions) + output_bytes(positions);
}

void CudaProposals::prepare(int64_t positions) {
  const auto bytes = size_t(bytes_needed(positions));
  if (memory_.bytes() < bytes) {
    memory_ = {};
    memory_ = DeviceMemory(bytes, "proposing boxes");
  }
  if (pinned_.bytes() < size_t(output_bytes(positions))) {
    pinned_ = {};
    pinned_ = PinnedMemory(size_t(output_bytes(positions)));
  }
}

AnchorOutputs CudaProposals::run(const CudaSession& session,
                                 const CudaSession::DeviceFeatures& features) {
  const cuda::GridShape& grid = features.grid;
  SACT_ASSERT(grid.images == 1 && features.channels == plan_->hidden.depth);
  const int64_t positions = grid.positions();
  prepare(positions);
  std::byte* const hidden = memory_.data();
  std::byte* const outputs = hidden + hidden_bytes(positions);

  cuda::Launch launch = session.launch();
  launch.overlap = false;  // a copy comes before
  cuda::Product convolution = product_of(plan_->hidden, grid, grid, features.rows);
  convolution.output = hidden;
  cuda::run(convolution, plan_->type, launch);
  cuda::Product last = product_of(plan_->outputs, grid, grid, hidden);
  last.output = outputs;
  last.float_output = true;
  cuda::run(last, plan_->type, session.launch());
  expect(cudaMemcpyAsync(pinned_.data(), outputs, size_t(output_bytes(positions)),
                         cudaMemcpyDeviceToHost, launch.stream),
         "the anchors");
  session.stream().wait();

  AnchorOutputs result;
  const size_t anchors = size_t(plan_->anchors), each = 5 * anchors;
  const auto* from = reinterpret_cast<const float*>(pinned_.data());
  result.scores.reserve(size_t(positions) * anchors);
  result.codes.reserve(size_t(positions) * 4 * anchors);
  for (size_t position = 0; position < size_t(positions); ++position, from += each) {
    result.scores.insert(result.scores.end(), from, from + anchors);
    result.codes.insert(result.codes.end(), from + anchors, from + each);
  }
  return result;
}

}  // namespace sact::engine
