// Networks whose weights fit 16 bits: stored so, they give to the bit what 32 bits give.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "engine/plans.h"
#include "kernels/random_rows.h"
#include "support/temporary.h"

namespace sact::engine {
namespace {

using kernels::WeightStorage;

constexpr WeightStorage kHalves[] = {WeightStorage::kBFloat16, WeightStorage::kFloat16};

/// All layers of a plan, but not its scores.
std::vector<const PackedLayer*> layers_of(const Plan& plan) {
  std::vector<const PackedLayer*> layers = {&*plan.stem, &plan.head->layer};
  for (const auto& block : plan.blocks) {
    for (const PackedUnit& unit : block) {
      if (unit.shortcut) layers.push_back(&*unit.shortcut);
      for (const PackedLayer& layer : unit.layers) layers.push_back(&layer);
    }
  }
  return layers;
}

/// Random weights as a file of 16 bits has them.
test::WeightMap half_weight_map(const ModelSpec& spec, uint64_t seed, WeightStorage stored) {
  test::WeightMap weights = test::random_weight_map(spec, seed);
  for (const WeightInfo& info : weight_list(spec)) {
    if (info.role != WeightRole::kConvolution && info.role != WeightRole::kLinear) continue;
    for (float& value : weights.at(info.name)) value = kernels::stored_value(value, stored);
  }
  return weights;
}

/// The same network with the norms after convolutions multiplied into these, so that nothing but
/// their shifts is left of the norms and the weights need 32 bits.
test::WeightMap with_folded_norms(const ModelSpec& spec, const test::WeightMap& weights) {
  const WeightSource source = [&](const WeightInfo& info) { return weights.at(info.name); };
  const Folding folding(spec, source);
  test::WeightMap folded = weights;
  const auto fold = [&](const ConvStep& step) {
    if (!step.norm) return;
    FoldedLayer layer = folding.layer(step);
    folded.at(step.name + ".weight") = std::move(layer.weights);
    const auto fill = [&](const char* what, float value) {
      for (float& number : folded.at(step.norm->name + what)) number = value;
    };
    fill(".weight", 1);
    fill(".running_mean", 0);
    fill(".running_var", 1);
    folded.at(step.norm->name + ".bias") = std::move(layer.bias);
  };
  const Architecture& architecture = folding.architecture();
  fold(architecture.stem->convolution);
  for (const auto& block : architecture.blocks) {
    for (const UnitSteps& unit : block) {
      if (unit.shortcut) fold(*unit.shortcut);
      for (const ConvStep& step : unit.convolutions) fold(step);
    }
  }
  return folded;
}

ModelSpec spec_of(Halting halting, UnitKind unit) {
  ModelSpec spec = sact::test::tiny_spec(halting, {3, 4, 2});
  spec.unit = unit;
  spec.width = 20;
  spec.norm_epsilon = 0;  // so that a norm can be none
  return spec;
}

void expect_equal(const std::vector<ImageResult>& found, const std::vector<ImageResult>& right) {
  ASSERT_EQ(found.size(), right.size());
  for (size_t i = 0; i < right.size(); ++i) {
    ASSERT_EQ(found[i].logits, right[i].logits);
    for (size_t block = 0; block < right[i].blocks.size(); ++block) {
      ASSERT_EQ(found[i].blocks[block].units, right[i].blocks[block].units);
      ASSERT_EQ(found[i].blocks[block].ponder_cost.values,
                right[i].blocks[block].ponder_cost.values);
    }
  }
}

int64_t layers_over_tiles(CpuSession& session, const InputView& input) {
  const std::vector<LayerTime> layers = session.time_layers(input);
  return std::count_if(layers.begin(), layers.end(), [](const LayerTime& layer) {
    return std::string_view(layer.tap_order).find("tiles") != std::string_view::npos;
  });
}

TEST(HalfWeights, GiveToTheBitWhatFullOnesGive) {
  const std::pair<int, Size> runs[] = {{1, {64, 64}}, {3, {70, 90}}};
  int64_t over_tiles = 0;
  for (const kernels::Table* table : kernels::available_tables()) {
    for (const Halting halting : {Halting::kNone, Halting::kSact}) {
      for (const UnitKind unit :
           {UnitKind::kBottleneck, UnitKind::kBasic, UnitKind::kBottleneckV1, UnitKind::kBasicV1}) {
        for (const WeightStorage stored : kHalves) {
          const ModelSpec spec = spec_of(halting, unit);
          const test::WeightMap weights = half_weight_map(spec, 41, stored);
          const auto type = kernels::DataType::kFloat32;
          const auto half = test::plan_of(spec, weights, type, *table);
          const auto full = test::plan_of(spec, with_folded_norms(spec, weights), type, *table);
          const auto half_layers = layers_of(*half), full_layers = layers_of(*full);
          int wider = 0;
          for (size_t i = 0; i < half_layers.size(); ++i) {
            ASSERT_EQ(half_layers[i]->weights.stored, stored);
            if (full_layers[i]->weights.stored != WeightStorage::kOperand) continue;  // no norm
            ASSERT_EQ(2 * half_layers[i]->weights.bytes(), full_layers[i]->weights.bytes());
            ++wider;
          }
          ASSERT_GT(wider, 8);
          CpuSession half_session(half, 2), full_session(full, 2);
          for (const auto& [images, size] : runs) {
            if (table == &kernels::scalar_table() && images > 1) break;  // it takes its time
            SCOPED_TRACE(testing::Message() << table->name << ", " << name_of(halting) << ", "
                                            << name_of(unit) << ", " << images << " images");
            const auto planes = sact::test::random_planes(images, size, 3);
            expect_equal(half_session.run(planes, images, size),
                         full_session.run(planes, images, size));
            if (HasFatalFailure()) return;
            over_tiles += layers_over_tiles(half_session, planes_view(planes, images, size));
          }
        }
      }
    }
  }
  EXPECT_GT(over_tiles, 0);  // others ran direct
}

TEST(HalfWeights, AreThoseOfFilesThatStoreThem) {
  const ModelSpec spec = spec_of(Halting::kSact, UnitKind::kBottleneck);
  const sact::test::TemporaryDirectory folder;
  const auto path = folder.path() / "m.safetensors";
  const std::pair<io::Dtype, WeightStorage> cases[] = {{io::Dtype::kF32, WeightStorage::kOperand},
                                                       {io::Dtype::kBF16, WeightStorage::kBFloat16},
                                                       {io::Dtype::kF16, WeightStorage::kFloat16}};
  for (const auto& [dtype, stored] : cases) {
    write_model(path, spec, sact::test::random_weights(spec, 1), dtype);
    const ModelFile file(path);
    const Plan plan(file, kernels::chosen_table());
    for (const PackedLayer* layer : layers_of(plan)) EXPECT_EQ(layer->weights.stored, stored);
    // Operands of 16 bits are stored as ever.
    const Plan half(file, kernels::chosen_table(), kernels::DataType::kBFloat16);
    for (const PackedLayer* layer : layers_of(half)) {
      EXPECT_EQ(layer->weights.stored, WeightStorage::kOperand);
    }
  }
}

}  // namespace
}  // namespace sact::engine
