#include "engine/cpu/plan.h"

#include "base/error.h"
#include "base/memory.h"
#include "engine/cpu/layer_builder.h"
#include "model/detection.h"
#include "model/weights.h"

namespace sact::engine {

Plan::Plan(const ModelFile& file, const kernels::Table& kernel_table, kernels::DataType operands)
    : Plan(
          image_network(file.spec()), [&](const WeightInfo& info) { return file.values(info); },
          kernel_table, operands) {}

Plan::Plan(const ModelSpec& model, const WeightSource& weights, const kernels::Table& kernel_table,
           kernels::DataType operands)
    : spec(model), table(kernel_table), type(operands), arena(kWeightPieceBytes) {
  SACT_ASSERT(!spec.detection);  // its parts are networks; see model/detection.h
  expect_memory(uint64_t(parameter_count(spec)) * size_t(kernels::operand_type(type).weights.bytes),
                "the weights of this network");
  LayerBuilder builder(spec, weights, table, type, arena, layers);
  if (spec.stem != Stem::kNone) stem = builder.stem();
  for (int block = 0; block < spec.blocks(); ++block) {
    blocks.emplace_back();
    for (int number = 0; number < spec.units[size_t(block)]; ++number) {
      const std::string prefix = unit_prefix(block, number);
      Unit unit;
      unit.norm1 = builder.norm(prefix + "norm1");
      const Affine norm2 = builder.norm(prefix + "norm2");
      if (number == 0) {
        unit.shortcut = builder.convolution(prefix + "downsample.conv", nullptr);
      }
      unit.conv1 = builder.convolution(prefix + "conv1", &norm2);
      if (spec.unit == UnitKind::kBottleneck) {
        const Affine norm3 = builder.norm(prefix + "norm3");
        unit.conv2 = builder.convolution(prefix + "conv2", &norm3);
        unit.conv3 = builder.convolution(prefix + "conv3", nullptr);
      } else {
        unit.conv2 = builder.convolution(prefix + "conv2", nullptr);
      }
      if (spec.has_halting_score(block, number)) {
        unit.score = builder.score(prefix + "halting.", spec.block_channels(block));
      }
      blocks.back().push_back(std::move(unit));
    }
  }
  if (spec.outputs() > 0) head = {builder.norm("norm"), builder.with_bias("head.fc")};
}

}  // namespace sact::engine
