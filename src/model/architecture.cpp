#include "model/architecture.h"

#include <algorithm>

#include "base/error.h"

namespace sact {
namespace {

constexpr const char* kHalting = "halting";  // of a unit

/// Weights bear the names of the libraries that published networks of the kind: pre-activation
/// units those of timm's `resnetv2`, post-activation units those of torchvision's `resnet`.
struct Names {
  const char *stem, *stem_norm, *stem_pool;
  const char* block;  // what goes before its number
  int first_block;    // which begins here
  const char* units;  // and after it
  const char *last_norm, *linear;
};
constexpr Names kPreactivationNames = {"stem.conv", nullptr,    "stem.pool", "stages.",
                                       0,           ".blocks.", "norm",      "head.fc"};
constexpr Names kPostactivationNames = {"conv1", "bn1", "maxpool", "layer", 1, ".", nullptr, "fc"};

const Names& names_of(const ModelSpec& spec) {
  return is_preactivation(spec.unit) ? kPreactivationNames : kPostactivationNames;
}

/// What a unit is made for.
struct UnitPlace {
  std::string prefix;
  int in = 0, width = 0, out = 0, stride = 1;
  bool first = false;  // of its block
};

UnitSteps preactivation_unit(const UnitPlace& place, std::vector<ConvStep> convolutions) {
  UnitSteps unit;
  unit.preactivation = {place.prefix + "norm1", place.in};
  if (place.first) {
    unit.shortcut =
        ConvStep{place.prefix + "downsample.conv", 1, place.stride, place.in, place.out};
  }
  // The norm before a convolution is the one after the convolution before it.
  for (size_t i = 0; i + 1 < convolutions.size(); ++i) {
    convolutions[i].norm = {place.prefix + fmt::format("norm{}", i + 2), convolutions[i].out};
    convolutions[i].relu = true;
  }
  unit.convolutions = std::move(convolutions);
  return unit;
}

UnitSteps postactivation_unit(const UnitPlace& place, std::vector<ConvStep> convolutions) {
  UnitSteps unit;
  if (place.first && (place.stride != 1 || place.in != place.out)) {
    unit.shortcut = ConvStep{place.prefix + "downsample.0", 1, place.stride, place.in, place.out};
    unit.shortcut->norm = {place.prefix + "downsample.1", place.out};
  }
  for (size_t i = 0; i < convolutions.size(); ++i) {
    convolutions[i].norm = {place.prefix + fmt::format("bn{}", i + 1), convolutions[i].out};
    convolutions[i].relu = i + 1 < convolutions.size();
  }
  unit.convolutions = std::move(convolutions);
  unit.relu = true;
  return unit;
}

std::vector<ConvStep> bottleneck(const UnitPlace& place, StrideOn stride_on) {
  const int stride1 = stride_on == StrideOn::k1x1 ? place.stride : 1;
  const std::string& prefix = place.prefix;
  return {{prefix + "conv1", 1, stride1, place.in, place.width},
          {prefix + "conv2", 3, place.stride / stride1, place.width, place.width},
          {prefix + "conv3", 1, 1, place.width, place.out}};
}

std::vector<ConvStep> basic(const UnitPlace& place) {
  return {{place.prefix + "conv1", 3, place.stride, place.in, place.width},
          {place.prefix + "conv2", 3, 1, place.width, place.out}};
}

UnitSteps steps_of(const ModelSpec& spec, const UnitPlace& place) {
  switch (spec.unit) {
    case UnitKind::kBottleneck:
      return preactivation_unit(place, bottleneck(place, spec.stride_on));
    case UnitKind::kBasic:
      return preactivation_unit(place, basic(place));
    case UnitKind::kBottleneckV1:
      return postactivation_unit(place, bottleneck(place, spec.stride_on));
    case UnitKind::kBasicV1:
      return postactivation_unit(place, basic(place));
  }
  SACT_ASSERT(false);
  return {};
}

/// After the first unit of an adaptive block a convolution is evaluated where the next one reads:
/// the last on the active set, and whatever a 3x3 convolution follows on its dilation.
void set_domains(std::vector<ConvStep>& convolutions) {
  Domain domain = Domain::kActive;
  for (auto step = convolutions.rbegin(); step != convolutions.rend(); ++step) {
    step->domain = domain;
    if (step->kernel > 1) domain = Domain::kDilated;
  }
}

UnitSteps unit_steps(const ModelSpec& spec, int block, int number) {
  const bool first = number == 0;
  const int out = spec.block_channels(block);
  const UnitPlace place{
      unit_prefix(spec, block, number), first ? spec.block_input_channels(block) : out,
      spec.block_width(block),          out,
      spec.unit_stride(block, number),  first};
  UnitSteps unit = steps_of(spec, place);
  unit.name = place.prefix.substr(0, place.prefix.size() - 1);
  if (spec.adaptive() && !first) set_domains(unit.convolutions);
  if (spec.has_halting_score(block, number)) {
    unit.halting = {place.prefix + kHalting, out, spec.halting == Halting::kSact,
                    spec.halting_norm};
  }
  return unit;
}

ConvStep with_bias(const std::string& name, int kernel, int in, int out) {
  ConvStep step{name, kernel, 1, in, out};
  step.bias = true;
  return step;
}

ProposalSteps proposal_steps(const ModelSpec& spec) {
  const int features = spec.block_channels(spec.blocks() - 2);
  const int channels = spec.detection->proposal_channels, anchors = spec.detection->anchors();
  ProposalSteps steps{with_bias("proposal.conv", 3, features, channels),
                      with_bias("proposal.score", 1, channels, anchors),
                      with_bias("proposal.box", 1, channels, 4 * anchors)};
  steps.hidden.relu = true;
  return steps;
}

HeadSteps head_steps(const ModelSpec& spec) {
  const Names& names = names_of(spec);
  const int features = spec.block_channels(spec.blocks() - 1);
  HeadSteps head;
  if (names.last_norm) head.norm = {names.last_norm, features};
  head.linear = with_bias(names.linear, 1, features, spec.outputs());
  return head;
}

}  // namespace

std::optional<StemSteps> stem_of(const ModelSpec& spec) {
  if (spec.stem == Stem::kNone) return std::nullopt;
  const Names& names = names_of(spec);
  const bool imagenet = spec.stem == Stem::kImageNet;
  StemSteps stem;
  stem.convolution = {names.stem, imagenet ? 7 : 3, imagenet ? 2 : 1, 3, spec.stem_channels()};
  if (names.stem_norm) {
    stem.convolution.norm = {names.stem_norm, spec.stem_channels()};
    stem.convolution.relu = true;
  }
  if (imagenet) stem.pool = {names.stem_pool, spec.stem_pool};
  return stem;
}

Size ConvStep::output(Size input) const {
  const auto strided = [this](int extent) { return (extent + stride - 1) / stride; };
  return {strided(input.height), strided(input.width)};
}

int PoolStep::output(int extent) const {
  switch (padding) {
    case StemPool::kSymmetric:
    case StemPool::kSame:
      return (extent + 1) / 2;
    case StemPool::kCeil:
      return std::max(extent - kKernel + 1, 0) / kStride + 1;
    case StemPool::kValid:
      return std::max(extent - kKernel, 0) / kStride + 1;
  }
  SACT_ASSERT(false);
  return 0;
}

int PoolStep::padding_before(int extent) const {
  if (padding == StemPool::kSymmetric) return kKernel / 2;
  if (padding != StemPool::kSame) return 0;
  return std::max((output(extent) - 1) * kStride + kKernel - extent, 0) / 2;
}

Architecture::Architecture(const ModelSpec& spec) : stem(stem_of(spec)) {
  for (int block = 0; block < spec.blocks(); ++block) {
    blocks.emplace_back();
    for (int unit = 0; unit < spec.units[size_t(block)]; ++unit) {
      blocks.back().push_back(unit_steps(spec, block, unit));
    }
  }
  if (spec.detection) proposals = proposal_steps(spec);
  if (spec.outputs() > 0) head = head_steps(spec);
}

std::string block_prefix(const ModelSpec& spec, int block) {
  const Names& names = names_of(spec);
  return fmt::format("{}{}{}", names.block, block + names.first_block, names.units);
}

std::string unit_prefix(const ModelSpec& spec, int block, int unit) {
  return fmt::format("{}{}.", block_prefix(spec, block), unit);
}

std::string unit_of(const std::string& weight) {
  for (const Names* names : {&kPreactivationNames, &kPostactivationNames}) {
    if (!weight.starts_with(names->block)) continue;
    const size_t units = weight.find(names->units);
    if (units != weight.npos) {
      return weight.substr(0, weight.find('.', units + std::string_view(names->units).size()));
    }
  }
  return {};
}

bool is_of_halting(std::string_view weight) {
  return weight.find(fmt::format(".{}.", kHalting)) != weight.npos;
}

}  // namespace sact
