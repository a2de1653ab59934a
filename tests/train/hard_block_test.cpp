// HardBlock, and below it the very kernels that a GPU runs, on an emulated one: against the
// formulas of halting/hard.h in LibTorch's operations and in 64 bits.
#include "train/torch/hard_block.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "train/torch/halting_torch.h"

namespace sact::train {
namespace {

constexpr int64_t kImages = 3, kHeight = 7, kWidth = 6;
constexpr int kUnits = 4;
constexpr double kThreshold = 0.3, kSteepness = 2, kEpsilon = 1e-3;

struct Case {
  int channels;
  bool relu, noise;
  torch::ScalarType type;
};

/// A block: what is given to it, and its parameters. f(x) = tanh(scale x + shift) for every unit.
struct Block {
  torch::Tensor x, noise;
  std::vector<ScoreTensors> scores;
  std::vector<torch::Tensor> scales, shifts;
  torch::Tensor output_gradient, cost_gradient;
};

/// Noise has more values than the block takes, as those of other blocks follow.
Block random_block(const Case& of) {
  const int64_t channels = of.channels;
  Block block;
  auto values = [&](torch::IntArrayRef shape, double scale) { return scale * torch::randn(shape); };
  // 16 bits hold all that is read in them.
  auto stream = [&] {
    return values({kImages, channels, kHeight, kWidth}, 1).to(of.type).to(torch::kFloat32);
  };
  block.x = of.relu ? stream().relu() : stream();
  if (of.noise) block.noise = values({kImages, kUnits * kHeight * kWidth}, 1);
  for (int unit = 0; unit < kUnits; ++unit) {
    auto norm = [&] {
      return NormTensors{torch::rand({channels}) + 0.5, values({channels}, 0.3),
                         values({channels}, 0.2), torch::rand({channels}) + 0.5};
    };
    ScoreTensors score;
    score.local = values({1, channels, 3, 3}, 1 / std::sqrt(9.0 * double(channels)))
                      .contiguous(torch::MemoryFormat::ChannelsLast);
    score.global = values({1, channels}, 0.5 / std::sqrt(double(channels)));
    score.bias = values({1}, 0.1);
    score.local_norm = norm();
    score.global_norm = norm();
    score.epsilon = kEpsilon;
    block.scores.push_back(score);
    block.scales.push_back(values({1, channels, 1, 1}, 0.3));
    block.shifts.push_back(values({1, channels, 1, 1}, 0.3));
  }
  block.output_gradient = stream();
  block.cost_gradient = values({kImages, kHeight, kWidth}, 1);
  return block;
}

struct Output {
  torch::Tensor x, cost;
};

torch::Tensor residual(const Block& block, int unit, const torch::Tensor& x) {
  const auto& scale = block.scales[size_t(unit)];
  return torch::tanh(x.to(scale.scalar_type()) * scale + block.shifts[size_t(unit)]);
}

Output run_formulas(const Block& block, bool relu) {
  auto norm = [](const torch::Tensor& x, const NormTensors& of) {
    auto wide = [&](const torch::Tensor& values) { return values.to(x.scalar_type()); };
    return torch::batch_norm(x, wide(of.scale), wide(of.shift), wide(of.running_mean),
                             wide(of.running_var), /*training=*/false, 0, kEpsilon, false);
  };
  torch::Tensor x = block.x, active = torch::ones({kImages, 1, kHeight, kWidth}, torch::kFloat64);
  torch::Tensor count = active;
  const int64_t positions = kHeight * kWidth;
  for (int unit = 1; unit < kUnits; ++unit) {
    const ScoreTensors& score = block.scores[size_t(unit - 1)];
    const torch::Tensor seen = x.detach();
    const torch::Tensor pooled = norm(seen.mean({2, 3}), score.global_norm);
    const torch::Tensor argument =
        torch::conv2d(norm(seen, score.local_norm), score.local, {}, 1, 1) +
        torch::linear(pooled, score.global, score.bias).view({-1, 1, 1, 1});
    torch::Tensor z = (argument - kThreshold) / kSteepness;
    if (block.noise.defined()) {
      z = z + block.noise.narrow(1, (unit - 1) * positions, positions).view_as(z);
    }
    active = active * (1 - hard_score(z));
    const torch::Tensor sum = x + residual(block, unit, x);
    x = torch::lerp(x, relu ? sum.relu() : sum, active);
    count = count + active;
  }
  return {x, count.squeeze(1)};
}

Output run_kernels(const Block& block, bool relu) {
  torch::Tensor noise = block.noise;
  if (noise.defined()) noise = noise.narrow(1, 0, (kUnits - 1) * kHeight * kWidth);
  HardBlock fused(block.x, kUnits, {kThreshold, kSteepness, relu}, noise);
  torch::Tensor x = fused.first(block.x, block.scores[0]);
  for (int unit = 1; unit < kUnits; ++unit) {
    const bool last = unit + 1 == kUnits;
    x = fused.next(x, residual(block, unit, x), last ? nullptr : &block.scores[size_t(unit)]);
  }
  const FusedBlock::Result result = fused.result();
  EXPECT_TRUE(torch::equal(result.units, result.ponder_cost.detach()));
  return {result.output, result.ponder_cost};
}

/// Outputs and all gradients, with parameters and stream of these types.
template <typename Run>
std::map<std::string, torch::Tensor> results(Block block, torch::ScalarType parameters,
                                             torch::ScalarType stream, bool relu, const Run& run) {
  std::map<std::string, torch::Tensor> leaves;
  auto leaf = [&](const std::string& name, torch::Tensor& tensor, torch::ScalarType type) {
    tensor = tensor.to(type).clone().requires_grad_();
    leaves["gradient of " + name] = tensor;
  };
  leaf("x", block.x, stream);
  for (size_t unit = 0; unit < kUnits; ++unit) {
    const std::string number = fmt::format(" {}", unit);
    if (unit > 0) {  // the first unit's f is not part of the block here
      leaf("scale" + number, block.scales[unit], parameters);
      leaf("shift" + number, block.shifts[unit], parameters);
    }
    if (unit + 1 == kUnits) continue;  // the last unit has no score
    leaf("local" + number, block.scores[unit].local, parameters);
    leaf("global" + number, block.scores[unit].global, parameters);
    leaf("bias" + number, block.scores[unit].bias, parameters);
  }
  const Output output = run(block, relu);
  const torch::Tensor wide = output.x.to(parameters);
  ((wide * block.output_gradient).sum() + (output.cost * block.cost_gradient).sum()).backward();
  std::map<std::string, torch::Tensor> found = {{"x", output.x.detach()},
                                                {"cost", output.cost.detach()}};
  for (const auto& [name, tensor] : leaves) found[name] = tensor.grad();
  for (auto& [name, tensor] : found) tensor = tensor.to(torch::kFloat64);
  return found;
}

double difference(const torch::Tensor& found, const torch::Tensor& expected) {
  return ((found - expected).norm() / expected.norm()).item<double>();
}

TEST(HardBlock, HasTheOutputsAndGradientsOfTheFormulas) {
  for (const Case& of :
       {Case{8, false, false, torch::kFloat32},  // also in several spans
        Case{8, true, true, torch::kFloat32}, Case{264, false, true, torch::kFloat32},
        Case{264, true, false, torch::kFloat32}, Case{264, false, true, torch::kBFloat16},
        Case{8, true, true, torch::kBFloat16}}) {
    const bool half = of.type == torch::kBFloat16;
    SCOPED_TRACE(fmt::format("{} channels, relu {}, noise {}, {} bits", of.channels, of.relu,
                             of.noise, half ? 16 : 32));
    torch::manual_seed(3);
    const Block block = random_block(of);
    const auto expected = results(block, torch::kFloat64, torch::kFloat64, of.relu, run_formulas);
    const auto found = results(block, torch::kFloat32, of.type, of.relu, run_kernels);
    EXPECT_TRUE(torch::equal(found.at("cost"), expected.at("cost")));
    EXPECT_GT(expected.at("cost").std().item<double>(), 0.5) << "a weak test";
    for (const auto& [name, value] : expected) {
      EXPECT_LT(difference(found.at(name), value), half ? 0.05 : 1e-5) << name;
    }
  }
}

TEST(HardBlock, PassesOnTheGradientOfTheCostAlone) {
  torch::manual_seed(4);
  Block block = random_block({16, true, true, torch::kFloat32});
  block.output_gradient.zero_();
  auto without_output = [](const Block& of, bool relu) {
    const Output output = run_kernels(of, relu);
    return Output{output.x.detach(), output.cost};
  };
  const auto expected = results(block, torch::kFloat64, torch::kFloat64, true, run_formulas);
  const auto found = results(block, torch::kFloat32, torch::kFloat32, true, without_output);
  for (int unit = 0; unit + 1 < kUnits; ++unit) {
    for (const char* part : {"local", "global", "bias"}) {
      const std::string name = fmt::format("gradient of {} {}", part, unit);
      EXPECT_LT(difference(found.at(name), expected.at(name)), 1e-5) << name;
      EXPECT_GT(expected.at(name).abs().sum().item<double>(), 0) << name;
    }
  }
}

}  // namespace
}  // namespace sact::train
