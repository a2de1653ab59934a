// The baseline of an adaptive model: the plain network that does about the same work, made of the
// first units of each block of the full plain network.
#pragma once

#include <span>
#include <vector>

#include "model/eval_result.h"
#include "model/model_file.h"

namespace sact {

/// A network in memory.
struct ModelWeights {
  ModelSpec spec;
  std::vector<Weight> weights;
};

/// The network with only the first `units` of each block; all else, the head too, stays as it is.
/// There must be from 1 to as many units as the file has in each of its blocks.
ModelWeights truncated(const ModelFile& file, const std::vector<int>& units);

/// The mean units of an adaptive model, rounded to the nearest whole number; at least 1 and at most
/// what the plain network has.
std::vector<int> baseline_units(std::span<const MeanStd> mean_units, const ModelSpec& plain);

/// Throws sact::Error, naming the file and what to do, unless `plain` is a plain network that the
/// baseline of `adaptive` can be cut out of.
void check_baseline_source(const ModelFile& adaptive, const ModelFile& plain);

/// Throws sact::Error when the saved result in `file` tells that it is of another network.
void check_result_of(const EvalResult& result, const ModelFile& adaptive, const std::string& file);

}  // namespace sact
