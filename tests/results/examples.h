// Results as a test needs them.
#pragma once

#include <vector>

#include "results/rows.h"

namespace sact::test {

inline EvalOutcome outcome(int side, double accuracy, MeanStd flops, std::vector<MeanStd> units) {
  return {{side, side}, 1000, accuracy, (1 + accuracy) / 2, 1, 1, flops, std::move(units), {}};
}

/// An adaptive network of two blocks, tested at these sizes.
inline EvalResult adaptive(double accuracy, std::vector<int> sides = {128}, double flops = 1.5e9) {
  EvalResult result;
  for (const int side : sides) {
    const double scale = double(side * side) / (128 * 128);
    result.sizes.push_back(outcome(side, accuracy + 0.0001 * (side - 128),
                                   {flops * scale, 1e8 * scale}, {{1.5, 0.5}, {2.25, 0.75}}));
  }
  return result;
}

inline EvalResult plain(double accuracy, std::vector<int> sides = {128}, double flops = 2e9) {
  EvalResult result = adaptive(accuracy, std::move(sides), flops);
  for (EvalOutcome& outcome : result.sizes) {
    // A deviation of equal numbers, as sums of squares give it.
    outcome.flops.std = 3;
    outcome.units = {{2, 0}, {3, 0}};
  }
  return result;
}

}  // namespace sact::test
