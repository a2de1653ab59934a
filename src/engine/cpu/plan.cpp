#include "engine/cpu/plan.h"

#include <algorithm>

#include "base/error.h"
#include "base/memory.h"
#include "model/detection.h"

namespace sact::engine {
namespace {

/// What the arena of a plan takes at a time.
constexpr size_t kWeightPieceBytes = size_t{16} << 20;

/// Whether CpuSession has a form for such a unit: see run_bottleneck() and run_basic().
bool can_run(const UnitSteps& unit) {
  std::vector<int> kernels;
  for (const ConvStep& step : unit.convolutions) kernels.push_back(step.kernel);
  if (kernels == std::vector<int>{1, 3, 1})
    return unit.shortcut || unit.convolutions[0].stride == 1;
  return kernels == std::vector<int>{3, 3};
}

/// `scales` are null where operands are floats.
PackedUnit packed_unit(const UnitSteps& steps, const Folding& folding, Packing& packing,
                       const InputScales* scales) {
  SACT_ASSERT(can_run(steps));
  const ConvStep& first = steps.convolutions.front();
  PackedUnit unit;
  if (steps.preactivation) unit.preactivation = folding.norm(*steps.preactivation);
  if (scales) {
    unit.preactivation = quantizing_norm(unit.preactivation, first.in, scales->at(first.name));
  }
  if (steps.shortcut) {
    const LayerScales own = scales ? LayerScales{scales->at(first.name)} : LayerScales{};
    unit.shortcut = packing.layer(folding.unscaled_layer(*steps.shortcut), own);
  }
  for (size_t i = 0; i < steps.convolutions.size(); ++i) {
    const LayerScales own = scales ? scales_of(steps, i, *scales) : LayerScales{};
    unit.layers.push_back(packing.layer(folding.unscaled_layer(steps.convolutions[i]), own));
  }
  unit.relu = steps.relu;
  if (steps.halting) unit.score = packing.score(folding.score(*steps.halting));
  return unit;
}

}  // namespace

Packing::Packing(const kernels::Table& table, kernels::DataType type,
                 Multiplications multiplications)
    : table_(table), type_(type), multiplications_(multiplications), arena_(kWeightPieceBytes) {}

PackedLayer Packing::pack(FoldedLayer source, kernels::DataType type,
                          const kernels::WeightStrides& strides, int taps, int depth,
                          LayerScales scales) {
  using kernels::WeightStorage;
  const ConvStep& step = source.step;
  const WeightStorage stored = type == kernels::DataType::kFloat32
                                   ? kernels::exact_storage(source.weights)
                                   : WeightStorage::kOperand;
  if (stored == WeightStorage::kOperand) source.scale_weights();
  const kernels::WeightMatrix matrix{source.weights.data(),
                                     strides,
                                     taps,
                                     depth,
                                     step.out,
                                     stored,
                                     source.scales.empty() ? nullptr : source.scales.data()};
  PackedLayer layer;
  layer.name = step.name;
  layer.index = count_++;
  layer.kernel = step.kernel;
  layer.stride = step.stride;
  layer.domain = step.domain;
  layer.relu = step.relu;
  layer.weights = kernels::pack_weights(kernels::operand_type(type),
                                        table_.functions(type).panel_layout(), matrix, arena_);
  layer.bias = std::move(source.bias);
  layer.bias.resize(size_t(layer.weights.panels()) * size_t(layer.weights.panel_columns), 0.0f);
  if (!layer.weights.scales) return layer;
  for (size_t column = 0; column < layer.bias.size(); ++column) {
    layer.scales.push_back(layer.weights.scales[column] * scales.input / scales.output);
    layer.bias[column] /= scales.output;
  }
  return layer;
}

PackedLayer Packing::layer(FoldedLayer unscaled, LayerScales scales) {
  const int depth = unscaled.step.in, taps = unscaled.step.kernel * unscaled.step.kernel;
  PackedLayer layer =
      pack(std::move(unscaled), type_, {int64_t(depth) * taps, taps, 1}, taps, depth, scales);
  const bool can_tile = table_.functions(type_).tiles.product && taps == 9 && layer.stride == 1;
  if (can_tile && multiplications_ == Multiplications::kFewest) {
    layer.tiles = std::make_shared<TileWeights>(layer.weights);
  }
  return layer;
}

PackedLayer Packing::float_layer(FoldedLayer unscaled) {
  const int depth = unscaled.step.in, taps = unscaled.step.kernel * unscaled.step.kernel;
  return pack(std::move(unscaled), float_type(), {int64_t(depth) * taps, taps, 1}, taps, depth);
}

kernels::DataType Packing::float_type() const {
  using kernels::DataType;
  if (type_ != DataType::kInt8) return type_;
  return table_.functions(DataType::kBFloat16).native ? DataType::kBFloat16 : DataType::kFloat32;
}

PackedLayer Packing::stem(FoldedLayer unscaled) {
  const int out = unscaled.step.out, colours = unscaled.step.in, side = unscaled.step.kernel;
  std::vector<float> weights(unscaled.weights.size());
  size_t index = 0;
  for (int o = 0; o < out; ++o) {
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        for (int c = 0; c < colours; ++c) {
          weights[index++] = unscaled.weights[size_t(((o * colours + c) * side + y) * side + x)];
        }
      }
    }
  }
  unscaled.weights = std::move(weights);
  const int depth = side * colours;
  return pack(std::move(unscaled), float_type(), {int64_t(side) * depth, 1, depth}, side, depth);
}

PackedScore Packing::score(const FoldedScore& folded) {
  PackedScore score;
  score.name = folded.step.name;
  score.index = count_++;
  score.global = folded.global;
  score.shift = folded.shift;
  if (folded.taps.empty()) return score;
  float* taps = arena_.take<float>(int64_t(folded.taps.size()));
  std::copy(folded.taps.begin(), folded.taps.end(), taps);
  score.taps = taps;
  std::copy(folded.tap_shifts.begin(), folded.tap_shifts.end(), score.tap_shift.begin());
  return score;
}

Plan::Plan(const ModelFile& file, const kernels::Table& kernel_table, kernels::DataType operands)
    : Plan(
          image_network(file.spec()), [&](const WeightInfo& info) { return file.values(info); },
          kernel_table, operands, Multiplications::kFewest, file.input_scales(), file.name()) {}

Plan::Plan(const ModelSpec& model, const WeightSource& weights, const kernels::Table& kernel_table,
           kernels::DataType operands, Multiplications multiplications, const InputScales& scales,
           const std::string& name)
    : spec(model), table(kernel_table), type(operands), arena(0) {
  SACT_ASSERT(!spec.detection);  // its parts are networks; see model/detection.h
  expect_memory(uint64_t(parameter_count(spec)) * size_t(kernels::operand_type(type).weights.bytes),
                "the weights of this network");
  const bool whole_numbers = type == kernels::DataType::kInt8;
  if (whole_numbers) expect_input_scales(spec, scales, name);
  const Folding folding(spec, weights);
  const Architecture& architecture = folding.architecture();
  Packing packing(table, type, multiplications);
  if (architecture.stem)
    stem = packing.stem(folding.unscaled_layer(architecture.stem->convolution));
  for (const auto& block : architecture.blocks) {
    blocks.emplace_back();
    for (const UnitSteps& unit : block) {
      blocks.back().push_back(
          packed_unit(unit, folding, packing, whole_numbers ? &scales : nullptr));
    }
  }
  if (architecture.head) {
    head.emplace();
    if (architecture.head->norm) head->norm = folding.norm(*architecture.head->norm);
    head->layer = packing.float_layer(folding.unscaled_layer(architecture.head->linear));
  }
  layers = packing.count();
  arena = packing.take_arena();
}

}  // namespace sact::engine
