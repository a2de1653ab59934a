#include <utility>

#include "api/state.h"
#include "model/flops.h"

namespace sact {

Result::Result(std::shared_ptr<const api::ResultState> state) : state_(std::move(state)) {}

const std::vector<float>& Result::logits() const {
  return state_->image.logits;
}

std::vector<double> Result::probabilities() const {
  return softmax(logits());
}

std::vector<ClassScore> Result::top(int count) const {
  std::vector<ClassScore> top;
  for (const ScoredClass& scored : top_classes(logits(), count)) {
    top.push_back({scored.index, state_->spec->label(scored.index), scored.score});
  }
  return top;
}

const std::vector<BlockResult>& Result::blocks() const {
  return state_->image.blocks;
}

Map Result::ponder_cost_map() const {
  return sact::ponder_cost_map(state_->image);
}

double Result::ponder_cost() const {
  return sact::ponder_cost(state_->image);
}

int64_t Result::flops() const {
  return state_->image.flops;
}

const RunTimes& Result::ms() const {
  return state_->ms;
}

int64_t Result::dense_flops() const {
  return sact::dense_flops(*state_->spec, state_->size);
}

}  // namespace sact
