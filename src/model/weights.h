// The weights a network of a given spec has: names, shapes and what each is for.
#pragma once

#include <string>
#include <vector>

#include "io/safetensors.h"
#include "model/spec.h"

namespace sact {

enum class WeightRole {
  kConvolution,
  kNormScale,
  kNormShift,
  kNormMean,  // moving averages: not parameters
  kNormVariance,
  kLinear,
  kLinearBias,
  kHaltingWeight,
  kHaltingBias,
};

struct WeightInfo {
  std::string name;
  io::Shape shape;
  WeightRole role;

  int64_t elements() const;
  bool is_parameter() const {
    return role != WeightRole::kNormMean && role != WeightRole::kNormVariance;
  }
};

/// All weights of an Architecture in the order of evaluation.
std::vector<WeightInfo> weight_list(const ModelSpec& spec);

/// Number of trained values: everything except the norms' moving averages.
int64_t parameter_count(const ModelSpec& spec);

}  // namespace sact
