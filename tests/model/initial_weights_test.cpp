// Fresh random weights.
#include "model/initial_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace sact {
namespace {

std::map<std::string, std::vector<float>> by_name(const ModelSpec& spec,
                                                  const InitialWeights& options) {
  std::map<std::string, std::vector<float>> values;
  for (Weight& weight : initial_weights(spec, options)) {
    values[weight.info.name] = std::move(weight.values);
  }
  return values;
}

ModelSpec spec_with(std::vector<int> units) {
  ModelSpec spec;
  spec.units = std::move(units);
  spec.width = 16;
  spec.classes = 10;
  spec.halting = Halting::kSact;
  return spec;
}

TEST(InitialWeights, SeedDecides) {
  const auto a = by_name(spec_with({2, 2}), {.seed = 1});
  EXPECT_EQ(a, by_name(spec_with({2, 2}), {.seed = 1}));
  EXPECT_NE(a.at("stem.conv.weight"),
            by_name(spec_with({2, 2}), {.seed = 2}).at("stem.conv.weight"));
}

TEST(InitialWeights, AWeightDependsOnItsNameAndNotOnItsNeighbours) {
  const auto two = by_name(spec_with({2, 2}), {.seed = 1});
  const auto three = by_name(spec_with({3, 2}), {.seed = 1});
  EXPECT_EQ(two.at("stages.1.blocks.1.conv2.weight"), three.at("stages.1.blocks.1.conv2.weight"));
}

TEST(InitialWeights, ConvolutionsHaveTheVarianceOfHe) {
  const auto values = by_name(spec_with({2, 2}), {.seed = 1}).at("stages.1.blocks.1.conv2.weight");
  double squares = 0;
  for (float value : values) squares += double(value) * value;
  EXPECT_NEAR(squares / double(values.size()), 2.0 / (32 * 9), 0.1 * 2.0 / (32 * 9));
}

TEST(InitialWeights, NormsAndBiasesHaveTheirConstants) {
  const auto values = by_name(spec_with({3, 2}), {.halting_bias = -2});
  EXPECT_EQ(values.at("stages.0.blocks.1.halting.global.bias"), std::vector<float>{-2});
  EXPECT_EQ(values.at("norm.weight"), std::vector<float>(128, 1.0f));
  EXPECT_EQ(values.at("norm.bias"), std::vector<float>(128, 0.0f));
  EXPECT_EQ(values.at("stages.0.blocks.2.norm1.running_var"), std::vector<float>(64, 3.0f))
      << "two units of residual variance on top of the first's shortcut";
  EXPECT_EQ(values.at("stages.0.blocks.2.norm2.running_var"), std::vector<float>(16, 1.0f));
}

/// Variances of what enters the norms of a network that was never trained, over those they expect.
TEST(InitialWeights, PostActivationNormsExpectWhatTheyGet) {
  ModelSpec spec = spec_with({2, 3});
  spec.unit = UnitKind::kBottleneckV1;
  const auto values = by_name(spec, {.residual_scale = 0.5});
  EXPECT_EQ(values.at("layer1.1.bn3.weight"), std::vector<float>(64, 0.5f))
      << "the residual's scale";
  EXPECT_EQ(values.at("layer1.1.bn2.weight"), std::vector<float>(16, 1.0f));
  EXPECT_EQ(values.at("layer1.1.bn2.running_var"), std::vector<float>(16, 1.0f));
  // The state after a first unit is the positive part of a normal value of variance 1 + 0.25.
  EXPECT_NEAR(values.at("layer1.1.bn1.running_var")[0], 2 * 1.25 / 2, 1e-6);
  EXPECT_NEAR(values.at("layer1.0.halting.local_norm.running_mean")[0],
              std::sqrt(1.25 / (2 * M_PI)), 1e-6);
}

TEST(InitialWeights, ScoresCanAddUpToOneAtAShareOfABlocksUnits) {
  for (double reach : {0.7, 1.0, 2.0}) {
    const auto values = by_name(spec_with({3, 6}), {.halting_bias = -2, .halting_reach = reach});
    for (const auto& [name, units] : {std::pair{"stages.0.blocks.1.halting.global.bias", 3.0},
                                      {"stages.1.blocks.4.halting.global.bias", 6.0}}) {
      const double score = 1 / (1 + std::exp(-double(values.at(name).at(0))));
      EXPECT_NEAR(score * units * reach, 1, 1e-6) << name;
    }
  }
}

}  // namespace
}  // namespace sact
