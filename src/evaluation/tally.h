// What is counted over the images of an evaluation, whichever back end runs them.
#pragma once

#include <vector>

#include "model/eval_result.h"
#include "model/result.h"

namespace sact::evaluation {

/// Counts and sums from which an outcome is made. All of them are sums over images, so the sums of
/// several processes can be added up.
class Tally {
 public:
  explicit Tally(int blocks);

  /// One image and its class. An output that is not finite counts as wrong.
  void add(const ImageResult& result, int label);

  /// Counts stay exact: they are far below 2^53.
  std::vector<double>& sums() { return sums_; }

  /// Throws sact::Error when there was no image; `images` is how many there should have been.
  EvalOutcome outcome(Size size, int64_t images) const;

 private:
  enum Count { kImages, kCorrect, kCorrect5, kNotFinite, kCounts };

  /// Quantities with a mean and a deviation: FLOPs, then units and ponder cost of each block.
  static constexpr int kFlops = 0;
  int units(int block) const { return 1 + block; }
  int ponder_cost(int block) const { return 1 + blocks_ + block; }
  void add(int quantity, double value);
  MeanStd moments(int quantity) const;

  int blocks_;
  std::vector<double> sums_;  // the counts; then sum and sum of squares of each quantity
};

}  // namespace sact::evaluation
