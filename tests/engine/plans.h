// Plans of random networks, without a file.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "engine/cpu/session.h"
#include "support/random_model.h"

namespace sact::engine::test {

using WeightMap = std::map<std::string, std::vector<float>>;

inline WeightMap random_weight_map(const ModelSpec& spec, uint64_t seed) {
  WeightMap values;
  for (Weight& weight : sact::test::random_weights(spec, seed)) {
    values[weight.info.name] = std::move(weight.values);
  }
  return values;
}

/// A network of this spec, which may have fewer units than the weights are for.
inline std::shared_ptr<const Plan> plan_of(const ModelSpec& spec, const WeightMap& weights,
                                           kernels::DataType type = kernels::DataType::kFloat32,
                                           const kernels::Table& table = kernels::chosen_table()) {
  return std::make_shared<Plan>(
      spec, [&](const WeightInfo& info) { return weights.at(info.name); }, table, type);
}

inline std::shared_ptr<const Plan> random_plan(
    const ModelSpec& spec, uint64_t seed, kernels::DataType type = kernels::DataType::kFloat32) {
  return plan_of(spec, random_weight_map(spec, seed), type);
}

}  // namespace sact::engine::test
