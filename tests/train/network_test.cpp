// The LibTorch network: properties of the specification that must hold for any weights.
#include "train/torch/network.h"

#include <gtest/gtest.h>

#include <set>

#include "model/flops.h"
#include "train/plain_loops.h"
#include "train/random_network.h"

namespace sact::train {
namespace {

using test::random_images;
using test::random_network;
using test::tiny_spec;

double largest_difference(const torch::Tensor& a, const torch::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

void set_parameter(Network& network, const std::string& name, double value) {
  torch::NoGradGuard no_grad;
  network->named_parameters()[name].fill_(value);
}

/// Gives `to` the weights of the same names that `from` has.
void copy_weights(Network& from, Network& to) {
  auto parameters = from->named_parameters(), buffers = from->named_buffers();
  for (auto& parameter : to->named_parameters()) {
    parameter.value().copy_(parameters[parameter.key()]);
  }
  for (auto& buffer : to->named_buffers()) buffer.value().copy_(buffers[buffer.key()]);
}

/// Makes every unit's halting score a given constant, the same everywhere.
void set_scores(Network& network, const std::vector<std::vector<double>>& scores) {
  torch::NoGradGuard no_grad;
  for (size_t block = 0; block < scores.size(); ++block) {
    for (size_t unit = 0; unit < scores[block].size(); ++unit) {
      const std::string prefix = unit_prefix(network->spec(), int(block), int(unit)) + "halting.";
      set_parameter(network, prefix + "global.weight", 0);
      if (network->spec().halting == Halting::kSact) {
        set_parameter(network, prefix + "local.weight", 0);
      }
      // A sigmoid of +-40 is 0 or 1 to the last bit of a float's sum.
      const double h = scores[block][unit];
      set_parameter(network, prefix + "global.bias",
                    h <= 0   ? -40
                    : h >= 1 ? 40
                             : std::log(h / (1 - h)));
    }
  }
}

constexpr UnitKind kUnitKinds[] = {UnitKind::kBottleneck, UnitKind::kBasic, UnitKind::kBottleneckV1,
                                   UnitKind::kBasicV1};

TEST(Network, OutputsHaveTheirShapesForAnySizeAndKind) {
  torch::NoGradGuard no_grad;
  for (Halting halting : {Halting::kNone, Halting::kAct, Halting::kSact}) {
    for (UnitKind unit : kUnitKinds) {
      for (Stem stem : {Stem::kImageNet, Stem::kSmall}) {
        for (const Size size : {Size{32, 32}, {33, 47}}) {
          ModelSpec spec = tiny_spec(halting, {2, 1, 3});
          spec.unit = unit;
          spec.stem = stem;
          Network network = random_network(spec, 1);
          const NetworkOutput output = network->forward(
              random_images(2, size.height, size.width, 2), {.distribution = spec.adaptive()});
          EXPECT_EQ(output.logits.sizes(), (torch::IntArrayRef{2, 6}));
          EXPECT_TRUE(torch::isfinite(output.logits).all().item<bool>());
          for (int block = 0; block < 3; ++block) {
            const Size expected = spec.block_size(block, size);
            const BlockOutput& found = output.blocks[size_t(block)];
            EXPECT_EQ(found.units.sizes(),
                      (torch::IntArrayRef{2, expected.height, expected.width}));
            EXPECT_EQ(found.ponder_cost.sizes(), found.units.sizes());
            if (spec.adaptive()) {
              EXPECT_EQ(found.distribution.size(1), spec.units[size_t(block)]);
            }
          }
        }
      }
    }
  }
}

TEST(Network, HaltingInvariantsHoldAtEveryPosition) {
  torch::NoGradGuard no_grad;
  std::set<int> seen;
  for (int tile : {1, 3}) {
    ModelSpec spec = tiny_spec(Halting::kSact);
    spec.tile = tile;
    Network network = random_network(spec, 5);
    const NetworkOutput output =
        network->forward(random_images(3, 64, 48, 6), {.distribution = true});
    for (const BlockOutput& block : output.blocks) {
      EXPECT_LT(largest_difference(block.distribution.sum(1), torch::ones_like(block.units)), 1e-5);
      EXPECT_TRUE((block.units <= block.ponder_cost + 1e-5).all().item<bool>());
      EXPECT_TRUE((block.ponder_cost <= block.units + 1 + 1e-5).all().item<bool>());
      for (int n : {1, 2, 3, 4}) {
        if ((block.units == n).any().item<bool>()) seen.insert(n);
      }
    }
  }
  EXPECT_EQ(seen.size(), 4u) << "the random scores halt everywhere, so this test means something";
}

TEST(Network, WithAFloorUnderLowScoresItIsThePlainNetworkToTheBit) {
  torch::NoGradGuard no_grad;
  for (Halting halting : {Halting::kAct, Halting::kSact}) {
    for (UnitKind unit : kUnitKinds) {
      ModelSpec spec = tiny_spec(halting, {3, 4, 1});
      spec.unit = unit;
      spec.score_floor = 0.05;
      ModelSpec plain_spec = spec;
      plain_spec.halting = Halting::kNone;
      Network network = random_network(spec, 5);
      const double h = 1 / (1 + std::exp(3.0));
      set_scores(network, {{h, h}, {h, h, h}});
      Network plain(plain_spec);
      plain->eval();
      copy_weights(network, plain);
      const torch::Tensor images = random_images(3, 64, 48, 6);
      EXPECT_TRUE(torch::equal(network->forward(images).logits, plain->forward(images).logits));
    }
  }
}

TEST(Network, ZeroLocalWeightsGiveAct) {
  torch::NoGradGuard no_grad;
  for (bool norm : {true, false}) {
    ModelSpec sact_spec = tiny_spec(Halting::kSact), act_spec = tiny_spec(Halting::kAct);
    sact_spec.halting_norm = act_spec.halting_norm = norm;
    Network sact = random_network(sact_spec, 9), act = random_network(act_spec, 9);
    for (auto& parameter : sact->named_parameters()) {
      if (parameter.key().find("halting.local.weight") != std::string::npos) {
        parameter.value().zero_();
      }
    }
    copy_weights(sact, act);
    const torch::Tensor images = random_images(3, 40, 56, 10);
    const NetworkOutput a = sact->forward(images), b = act->forward(images);
    EXPECT_LT(largest_difference(a.logits, b.logits), 1e-4);
    for (size_t block = 0; block < a.blocks.size(); ++block) {
      EXPECT_TRUE(torch::equal(a.blocks[block].units, b.blocks[block].units));
      EXPECT_LT(largest_difference(a.blocks[block].ponder_cost, b.blocks[block].ponder_cost), 1e-5);
    }
  }
}

TEST(Network, ZerosThenOneEqualsThePlainNetworkCutAfterThatUnit) {
  torch::NoGradGuard no_grad;
  const torch::Tensor images = random_images(2, 33, 47, 14);
  for (Halting halting : {Halting::kAct, Halting::kSact}) {
    for (int first = 1; first <= 3; ++first) {
      for (int second = 1; second <= 4; ++second) {
        const std::vector<int> cuts = {first, second};
        Network adaptive = random_network(tiny_spec(halting), 13);
        std::vector<std::vector<double>> scores = {{0, 0}, {0, 0, 0}};
        for (size_t block = 0; block < 2; ++block) {
          const size_t cut = size_t(cuts[block]);
          if (cut <= scores[block].size()) scores[block][cut - 1] = 1;
        }
        set_scores(adaptive, scores);
        Network plain(tiny_spec(Halting::kNone, cuts));
        copy_weights(adaptive, plain);
        plain->eval();
        const NetworkOutput a = adaptive->forward(images), b = plain->forward(images);
        SCOPED_TRACE("cut after " + std::to_string(first) + " and " + std::to_string(second));
        EXPECT_LT(largest_difference(a.logits, b.logits), 1e-4);
        for (size_t block = 0; block < 2; ++block) {
          EXPECT_TRUE(torch::equal(a.blocks[block].units, b.blocks[block].units));
          EXPECT_EQ(a.blocks[block].evaluated_units, cuts[block])
              << "units after the halt are not evaluated";
        }
      }
    }
  }
}

/// Whether some position goes on beside one that has halted.
bool has_borders(const std::vector<int>& units, Size size) {
  for (int y = 0; y < size.height; ++y) {
    for (int x = 1; x < size.width; ++x) {
      const size_t i = size_t(y * size.width + x);
      if (units[i] != units[i - 1]) return true;
    }
  }
  return false;
}

/// Returns in how many blocks halted and active positions met.
int expect_equal_to_plain_loops(const ModelSpec& spec, uint64_t seed) {
  int borders = 0;
  const Size size{40, 33};
  // Quiet on the left and loud on the right, so that positions halt at different units.
  const torch::Tensor images =
      random_images(2, size.height, size.width, seed + 1) * torch::linspace(0, 4, size.width);
  const auto weights = test::random_weights(spec, seed);
  const NetworkOutput output = make_network(spec, weights)->forward(images);
  const test::PlainLoops reference(spec, weights);
  for (int64_t i = 0; i < 2; ++i) {
    const auto expected = reference.run(images[i].data_ptr<float>(), size);
    for (int k = 0; k < spec.classes; ++k) {
      EXPECT_NEAR(output.logits[i][k].item<double>(), expected.logits[size_t(k)], 1e-4);
    }
    for (size_t block = 0; block < expected.blocks.size(); ++block) {
      const auto& [units, ponder_cost] = expected.blocks[block];
      const torch::Tensor found_units = output.blocks[block].units[i].contiguous();
      const torch::Tensor found_cost = output.blocks[block].ponder_cost[i].contiguous();
      for (size_t at = 0; at < units.size(); ++at) {
        EXPECT_EQ(found_units.data_ptr<float>()[at], float(units[at]));
        EXPECT_NEAR(found_cost.data_ptr<float>()[at], ponder_cost[at], 1e-4);
      }
      borders += has_borders(units, spec.block_size(int(block), size));
    }
  }
  return borders;
}

TEST(Network, EqualsTheSpecificationComputedPositionByPosition) {
  torch::NoGradGuard no_grad;
  int borders = 0;
  for (Halting halting : {Halting::kNone, Halting::kAct, Halting::kSact}) {
    for (UnitKind unit : {UnitKind::kBottleneck, UnitKind::kBasic}) {
      for (int tile : {1, 3}) {
        ModelSpec spec = tiny_spec(halting);
        spec.unit = unit;
        spec.tile = tile;
        spec.halting_norm = tile == 1;
        SCOPED_TRACE(to_json(spec));
        borders += expect_equal_to_plain_loops(spec, 15);
      }
    }
  }
  ModelSpec small = tiny_spec(Halting::kSact, {3, 2});
  small.stem = Stem::kSmall;
  borders += expect_equal_to_plain_loops(small, 16);
  EXPECT_GE(borders, 6) << "halted and active positions hardly met";
}

TEST(Network, EveryParameterOfEveryKindLearns) {
  for (Halting halting : {Halting::kNone, Halting::kAct, Halting::kSact}) {
    for (UnitKind unit : kUnitKinds) {
      ModelSpec spec = tiny_spec(halting, {2, 3});
      spec.unit = unit;
      SCOPED_TRACE(to_json(spec));
      Network network = random_network(spec, 19);
      network->train();
      const NetworkOutput output = network->forward(random_images(3, 48, 48, 20));
      torch::Tensor loss = output.logits.square().sum();
      if (spec.adaptive()) loss = loss + ponder_penalty(output);
      loss.backward();
      for (const auto& parameter : network->named_parameters()) {
        ASSERT_TRUE(parameter.value().grad().defined()) << parameter.key();
        EXPECT_TRUE(torch::isfinite(parameter.value().grad()).all().item<bool>())
            << parameter.key();
      }
    }
  }
}

TEST(Network, StatesOfPostActivationUnitsAreNeverNegative) {
  torch::NoGradGuard no_grad;
  for (Halting halting : {Halting::kNone, Halting::kSact}) {
    ModelSpec spec = tiny_spec(halting, {3, 2});
    spec.unit = UnitKind::kBottleneckV1;
    const NetworkOutput output = random_network(spec, 21)->forward(random_images(2, 64, 48, 22));
    EXPECT_GE(output.features.min().item<float>(), 0);
    EXPECT_GT(output.features.max().item<float>(), 0);
  }
}

TEST(Network, PermutingABatchPermutesTheResults) {
  torch::NoGradGuard no_grad;
  Network network = random_network(tiny_spec(Halting::kSact), 17);
  const torch::Tensor images = random_images(4, 48, 48, 18);
  const torch::Tensor order = torch::tensor({2, 0, 3, 1});
  const NetworkOutput a = network->forward(images);
  const NetworkOutput b = network->forward(images.index_select(0, order));
  EXPECT_LT(largest_difference(a.logits.index_select(0, order), b.logits), 1e-4);
  for (size_t block = 0; block < 2; ++block) {
    EXPECT_TRUE(torch::equal(a.blocks[block].units.index_select(0, order), b.blocks[block].units));
  }
}

TEST(Network, ABatchGivesEachImageWhatItGetsAlone) {
  torch::NoGradGuard no_grad;
  for (Halting halting : {Halting::kNone, Halting::kAct, Halting::kSact}) {
    ModelSpec spec = tiny_spec(halting);
    spec.tile = 2;
    Network network = random_network(spec, 19);
    const torch::Tensor images = random_images(3, 33, 47, 20);
    const NetworkOutput together = network->forward(images);
    const auto flops = test::image_flops(spec, together, {33, 47});
    for (int64_t i = 0; i < 3; ++i) {
      const NetworkOutput alone = network->forward(images.narrow(0, i, 1));
      EXPECT_LT(largest_difference(together.logits[i], alone.logits[0]), 1e-4);
      EXPECT_EQ(test::image_flops(spec, alone, {33, 47})[0], flops[size_t(i)]);
      for (size_t block = 0; block < 2; ++block) {
        EXPECT_TRUE(torch::equal(together.blocks[block].units[i], alone.blocks[block].units[0]));
        EXPECT_LT(largest_difference(together.blocks[block].ponder_cost[i],
                                     alone.blocks[block].ponder_cost[0]),
                  1e-5);
      }
    }
  }
}

TEST(Network, EarlyExitSkipsUnitsAndChangesNothing) {
  torch::NoGradGuard no_grad;
  Network network = random_network(tiny_spec(Halting::kSact), 23);
  set_scores(network, {{0.999, 0.5}, {0.6, 0.6, 0.1}});
  const torch::Tensor images = random_images(2, 40, 40, 24);
  const NetworkOutput early = network->forward(images, {.distribution = true});
  const NetworkOutput full = network->forward(images, {.distribution = true, .early_exit = false});
  EXPECT_EQ(early.blocks[0].evaluated_units, 1);
  EXPECT_EQ(early.blocks[1].evaluated_units, 2);
  EXPECT_EQ(full.blocks[0].evaluated_units, 3);
  EXPECT_EQ(full.blocks[1].evaluated_units, 4);
  EXPECT_TRUE(torch::equal(early.logits, full.logits));
  for (size_t block = 0; block < 2; ++block) {
    EXPECT_TRUE(torch::equal(early.blocks[block].distribution, full.blocks[block].distribution));
    EXPECT_TRUE(torch::equal(early.blocks[block].ponder_cost, full.blocks[block].ponder_cost));
  }
}

TEST(Network, TilesHaltAsOne) {
  torch::NoGradGuard no_grad;
  ModelSpec spec = tiny_spec(Halting::kSact);
  spec.tile = 4;
  Network network = random_network(spec, 28);
  // Quiet on the left and loud on the right, so that tiles differ.
  const torch::Tensor images = random_images(2, 72, 56, 30) * torch::linspace(0, 4, 56);
  const torch::Tensor units = network->forward(images).blocks[0].units;  // 18 x 14
  EXPECT_GT(units.max().item<float>(), units.min().item<float>());
  for (int64_t top = 0; top < 18; top += 4) {
    for (int64_t left = 0; left < 14; left += 4) {
      const torch::Tensor tile = units.slice(1, top, std::min<int64_t>(top + 4, 18))
                                     .slice(2, left, std::min<int64_t>(left + 4, 14));
      EXPECT_TRUE(torch::equal(tile.amax({1, 2}), tile.amin({1, 2})));
    }
  }
}

TEST(Network, EpsilonNearItsEnds) {
  torch::NoGradGuard no_grad;
  for (const auto& [epsilon, units] : {std::pair{1 - 1e-6, 1.0}, {1e-7, -1.0}}) {
    ModelSpec spec = tiny_spec(Halting::kSact);
    spec.epsilon = epsilon;
    Network network = random_network(spec, 31);
    set_scores(network, {{0.3, 0.3}, {0.2, 0.2, 0.2}});
    const NetworkOutput output = network->forward(random_images(1, 32, 32, 32));
    for (size_t block = 0; block < 2; ++block) {
      const double expected = units > 0 ? units : double(spec.units[block]);
      EXPECT_TRUE((output.blocks[block].units == expected).all().item<bool>());
    }
  }
}

TEST(Network, OneUnitBlocksAreEvaluatedOnce) {
  torch::NoGradGuard no_grad;
  Network network = random_network(tiny_spec(Halting::kSact, {1, 1, 1, 1}), 37);
  const NetworkOutput output = network->forward(random_images(1, 32, 32, 38));
  for (const BlockOutput& block : output.blocks) {
    EXPECT_TRUE((block.units == 1).all().item<bool>());
    EXPECT_TRUE((block.ponder_cost == 2).all().item<bool>()) << "N = 1 and the remainder is 1";
  }
}

TEST(Network, FlopsFollowTheUnitMaps) {
  torch::NoGradGuard no_grad;
  const Size size{64, 64};
  const ModelSpec plain = tiny_spec(Halting::kNone);
  Network dense = random_network(plain, 39);
  EXPECT_EQ(test::image_flops(plain, dense->forward(random_images(1, 64, 64, 40)), size)[0],
            dense_flops(plain, size));
  const ModelSpec spec = tiny_spec(Halting::kSact);
  Network network = random_network(spec, 41);
  const auto flops = test::image_flops(spec, network->forward(random_images(2, 64, 64, 42)), size);
  for (int64_t count : flops) {
    EXPECT_LT(count, dense_flops(spec, size) + halting_flops(spec, size));
    EXPECT_GT(count, dense_flops(tiny_spec(Halting::kNone, {1, 1}), size));
  }
}

TEST(Network, TrainingUsesBatchStatisticsAndSurvivesOneImage) {
  Network network = random_network(tiny_spec(Halting::kSact), 43);
  network->train();
  const torch::Tensor before =
      network->named_buffers()["stages.0.blocks.0.halting.global_norm.running_mean"].clone();
  network->forward(random_images(1, 32, 32, 44));
  EXPECT_TRUE(torch::equal(
      before, network->named_buffers()["stages.0.blocks.0.halting.global_norm.running_mean"]))
      << "one image has no statistics over the batch";
  network->forward(random_images(4, 32, 32, 44));
  EXPECT_FALSE(torch::equal(
      before, network->named_buffers()["stages.0.blocks.0.halting.global_norm.running_mean"]));
}

TEST(Network, NormStatisticsMoveWithTheDecayOfTheSpecification) {
  Network network = random_network(tiny_spec(Halting::kNone), 45);
  network->train();
  torch::Tensor mean = network->named_buffers()["stages.0.blocks.0.norm1.running_mean"];
  const torch::Tensor before = mean.clone();
  const torch::Tensor images = random_images(4, 32, 32, 46);
  torch::Tensor seen;
  {
    torch::NoGradGuard no_grad;
    auto weights = network->named_parameters();
    seen = torch::max_pool2d(torch::conv2d(images, weights["stem.conv.weight"], {}, 2, 3), 3, 2, 1)
               .mean({0, 2, 3});
  }
  network->forward(images);
  EXPECT_LT(largest_difference(mean, 0.997 * before + 0.003 * seen), 1e-5);
}

/// Loss whose gradient is compared with finite differences: cross-entropy and ponder cost.
torch::Tensor loss_of(Network& network, const torch::Tensor& images) {
  const NetworkOutput output = network->forward(images, {.early_exit = false});
  const torch::Tensor targets = torch::arange(images.size(0)) % 6;
  return torch::cross_entropy_loss(output.logits, targets) + 0.05 * ponder_penalty(output);
}

TEST(Network, GradientsEqualFiniteDifferences) {
  // In double precision, so that a small step shows the slope and not rounding.
  for (Halting halting : {Halting::kNone, Halting::kAct, Halting::kSact}) {
    Network network = random_network(tiny_spec(halting, {2, 3}), 47);
    network->to(torch::kFloat64);
    const torch::Tensor images = random_images(2, 32, 32, 48).to(torch::kFloat64);
    loss_of(network, images).backward();
    Random random(49);
    int checked = 0;
    for (auto& parameter : network->named_parameters()) {
      torch::Tensor value = parameter.value();
      const int64_t index = random.below(value.numel());
      ASSERT_TRUE(value.grad().defined()) << parameter.key();
      const double gradient = value.grad().view({-1})[index].item<double>();
      torch::NoGradGuard no_grad;
      torch::Tensor element = value.view({-1})[index];
      const double kept = element.item<double>();
      constexpr double kStep = 1e-6;
      auto at = [&](double shifted) {
        element.fill_(shifted);
        return loss_of(network, images).item<double>();
      };
      const double up = at(kept + kStep), down = at(kept - kStep), middle = at(kept);
      // Where N changes within the step the loss jumps: R is not continuous there.
      const double right = (up - middle) / kStep, left = (middle - down) / kStep;
      if (std::abs(right - left) > 0.05 * std::max(1e-3, std::abs(right) + std::abs(left)))
        continue;
      EXPECT_NEAR(gradient, (up - down) / (2 * kStep), 1e-4 + 1e-2 * std::abs(gradient))
          << parameter.key();
      ++checked;
    }
    EXPECT_GT(checked, int(network->named_parameters().size()) * 3 / 4);
  }
}

}  // namespace
}  // namespace sact::train
