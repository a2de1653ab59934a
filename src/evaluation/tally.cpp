#include "evaluation/tally.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"

namespace sact::evaluation {

Tally::Tally(int blocks) : blocks_(blocks), sums_(size_t(kCounts + 2 * (1 + 2 * blocks))) {}

void Tally::add(const ImageResult& result, int label) {
  ++sums_[kImages];
  const bool finite = std::all_of(result.logits.begin(), result.logits.end(),
                                  [](float logit) { return std::isfinite(logit); });
  if (finite) {
    const std::vector<ScoredClass> top = top_classes(result.logits, 5);
    const auto is_label = [label](const ScoredClass& entry) { return entry.index == label; };
    sums_[kCorrect] += is_label(top.front());
    sums_[kCorrect5] += std::any_of(top.begin(), top.end(), is_label);
  } else {
    ++sums_[kNotFinite];
  }
  add(kFlops, double(result.flops));
  for (int block = 0; block < blocks_; ++block) {
    add(units(block), mean_units(result.blocks[size_t(block)]));
    add(ponder_cost(block), mean_ponder_cost(result.blocks[size_t(block)]));
  }
}

EvalOutcome Tally::outcome(Size size, int64_t images) const {
  const double count = sums_[kImages];
  if (count == 0)
    fail("none of the {} can be read: there is no result", pluralize(images, "image"));
  if (sums_[kNotFinite] > 0) {
    log_warning("the network's output is not finite for {} of {}, which count as wrong",
                int64_t(sums_[kNotFinite]), pluralize(int64_t(count), "image"));
  }
  EvalOutcome outcome;
  outcome.size = size;
  outcome.images = int64_t(count);
  outcome.accuracy = sums_[kCorrect] / count;
  outcome.recall5 = sums_[kCorrect5] / count;
  outcome.flops = moments(kFlops);
  for (int block = 0; block < blocks_; ++block) {
    outcome.units.push_back(moments(units(block)));
    outcome.ponder_cost.push_back(moments(ponder_cost(block)));
  }
  return outcome;
}

void Tally::add(int quantity, double value) {
  double* sums = &sums_[size_t(kCounts + 2 * quantity)];
  sums[0] += value;
  sums[1] += value * value;
}

MeanStd Tally::moments(int quantity) const {
  const double* sums = &sums_[size_t(kCounts + 2 * quantity)];
  const double count = sums_[kImages], mean = sums[0] / count;
  return {mean, std::sqrt(std::max(0.0, sums[1] / count - mean * mean))};
}

}  // namespace sact::evaluation
