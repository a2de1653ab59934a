#include "model/weights.h"

#include "base/error.h"

namespace sact {
namespace {

/// Collects weights under a name prefix.
class WeightCollector {
 public:
  void convolution(const std::string& name, int out, int in, int kernel) {
    add(name + ".weight", {out, in, kernel, kernel}, WeightRole::kConvolution);
  }
  void norm(const std::string& name, int channels) {
    add(name + ".weight", {channels}, WeightRole::kNormScale);
    add(name + ".bias", {channels}, WeightRole::kNormShift);
    add(name + ".running_mean", {channels}, WeightRole::kNormMean);
    add(name + ".running_var", {channels}, WeightRole::kNormVariance);
  }
  void add(const std::string& name, io::Shape shape, WeightRole role) {
    weights.push_back({name, std::move(shape), role});
  }

  std::vector<WeightInfo> weights;
};

void add_halting(WeightCollector& collect, const ModelSpec& spec, int block, int unit) {
  const std::string prefix = unit_prefix(block, unit) + "halting.";
  const int channels = spec.block_channels(block);
  if (spec.halting == Halting::kSact) {
    collect.add(prefix + "local.weight", {1, channels, 3, 3}, WeightRole::kHaltingWeight);
    if (spec.halting_norm) collect.norm(prefix + "local_norm", channels);
  }
  collect.add(prefix + "global.weight", {1, channels}, WeightRole::kHaltingWeight);
  collect.add(prefix + "global.bias", {1}, WeightRole::kHaltingBias);
  if (spec.halting_norm) collect.norm(prefix + "global_norm", channels);
}

void add_unit(WeightCollector& collect, const ModelSpec& spec, int block, int unit) {
  const std::string prefix = unit_prefix(block, unit);
  const int width = spec.block_width(block);
  const int out = spec.block_channels(block);
  const int in = unit == 0 ? spec.block_input_channels(block) : out;
  if (unit == 0) collect.convolution(prefix + "downsample.conv", out, in, 1);
  collect.norm(prefix + "norm1", in);
  if (spec.unit == UnitKind::kBottleneck) {
    collect.convolution(prefix + "conv1", width, in, 1);
    collect.norm(prefix + "norm2", width);
    collect.convolution(prefix + "conv2", width, width, 3);
    collect.norm(prefix + "norm3", width);
    collect.convolution(prefix + "conv3", out, width, 1);
  } else {
    collect.convolution(prefix + "conv1", width, in, 3);
    collect.norm(prefix + "norm2", width);
    collect.convolution(prefix + "conv2", out, width, 3);
  }
  if (spec.has_halting_score(block, unit)) add_halting(collect, spec, block, unit);
}

/// Where objects may be: a score and four numbers for the box of every anchor.
void add_proposals(WeightCollector& collect, const ModelSpec& spec) {
  const int features = spec.block_channels(spec.blocks() - 2);
  const int channels = spec.detection->proposal_channels, anchors = spec.detection->anchors();
  auto layer = [&](const std::string& name, int out, int in, int kernel) {
    collect.add(name + ".weight", {out, in, kernel, kernel},
                kernel > 1 ? WeightRole::kConvolution : WeightRole::kLinear);
    collect.add(name + ".bias", {out}, WeightRole::kLinearBias);
  };
  layer("proposal.conv", channels, features, 3);
  layer("proposal.score", anchors, channels, 1);
  layer("proposal.box", 4 * anchors, channels, 1);
}

}  // namespace

int64_t WeightInfo::elements() const {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

std::string unit_prefix(int block, int unit) {
  return fmt::format("stages.{}.blocks.{}.", block, unit);
}

std::vector<WeightInfo> weight_list(const ModelSpec& spec) {
  WeightCollector collect;
  if (spec.stem != Stem::kNone) {
    collect.convolution("stem.conv", spec.stem_channels(), 3, spec.stem == Stem::kImageNet ? 7 : 3);
  }
  for (int block = 0; block < spec.blocks(); ++block) {
    for (int unit = 0; unit < spec.units[size_t(block)]; ++unit) {
      add_unit(collect, spec, block, unit);
    }
  }
  if (spec.detection) add_proposals(collect, spec);
  if (spec.outputs() > 0) {
    const int features = spec.block_channels(spec.blocks() - 1);
    collect.norm("norm", features);
    collect.add("head.fc.weight", {spec.outputs(), features}, WeightRole::kLinear);
    collect.add("head.fc.bias", {spec.outputs()}, WeightRole::kLinearBias);
  }
  return std::move(collect.weights);
}

int64_t parameter_count(const ModelSpec& spec) {
  int64_t count = 0;
  for (const WeightInfo& weight : weight_list(spec)) {
    if (weight.is_parameter()) count += weight.elements();
  }
  return count;
}

}  // namespace sact
