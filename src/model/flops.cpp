#include "model/flops.h"

#include <algorithm>

#include "base/error.h"
#include "model/weights.h"

namespace sact {
namespace {

/// Layers of one residual unit. The first unit of a block is always evaluated everywhere, and its
/// conv1 still at the resolution of the block before.
void add_unit_layers(std::vector<Layer>& layers, const ModelSpec& spec, int block, int unit,
                     Size input, Size output) {
  const std::string prefix = unit_prefix(block, unit);
  const int width = spec.block_width(block);
  const int out = spec.block_channels(block);
  const bool first = unit == 0;
  const int in = first ? spec.block_input_channels(block) : out;
  const Domain dilated = first || !spec.adaptive() ? Domain::kDense : Domain::kDilated;
  const Domain active = first || !spec.adaptive() ? Domain::kDense : Domain::kActive;
  auto add = [&](const char* name, Domain domain, int kernel, int from, int to, Size size,
                 bool halting = false) {
    layers.push_back({prefix + name, block, unit, domain, halting, kernel, from, to, size});
  };
  if (first) add("downsample.conv", Domain::kDense, 1, in, out, output);
  if (spec.unit == UnitKind::kBottleneck) {
    add("conv1", dilated, 1, in, width, input);
    add("conv2", active, 3, width, width, output);
    add("conv3", active, 1, width, out, output);
  } else {
    add("conv1", dilated, 3, in, width, output);
    add("conv2", active, 3, width, out, output);
  }
  if (!spec.has_halting_score(block, unit)) return;
  if (spec.halting == Halting::kSact) add("halting.local", active, 3, out, 1, output, true);
  add("halting.global", Domain::kOnce, 1, out, 1, output, true);
}

int64_t checked_sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) fail("the FLOPs of this network do not fit 64 bits");
  return sum;
}

int64_t sum_dense(const ModelSpec& spec, Size image, bool halting) {
  int64_t sum = 0;
  for (const Layer& layer : layer_list(spec, image)) {
    if (layer.halting == halting) sum = checked_sum(sum, layer.flops(layer.positions()));
  }
  return sum;
}

}  // namespace

int64_t Layer::flops(int64_t at_positions) const {
  int64_t product = 2;
  for (int64_t factor :
       {at_positions, int64_t(kernel) * kernel, int64_t(in_channels), int64_t(out_channels)}) {
    if (__builtin_mul_overflow(product, factor, &product)) {
      fail("the FLOPs of layer {} do not fit 64 bits", name);
    }
  }
  return product;
}

std::vector<Layer> layer_list(const ModelSpec& spec, Size image) {
  SACT_ASSERT(!spec.detection);  // its parts have layers; see detection.h
  std::vector<Layer> layers;
  if (spec.stem != Stem::kNone) {
    validate_image_size(image);
    const int stem_kernel = spec.stem == Stem::kImageNet ? 7 : 3;
    layers.push_back({"stem.conv", -1, -1, Domain::kDense, false, stem_kernel, 3,
                      spec.stem_channels(), spec.stem_size(image)});
  }
  for (int block = 0; block < spec.blocks(); ++block) {
    const Size output = spec.block_size(block, image);
    for (int unit = 0; unit < spec.units[size_t(block)]; ++unit) {
      const Size input = unit == 0 && block > 0 ? spec.block_size(block - 1, image) : output;
      add_unit_layers(layers, spec, block, unit, input, output);
    }
  }
  if (spec.outputs() > 0) {
    const int features = spec.block_channels(spec.blocks() - 1);
    layers.push_back(
        {"head.fc", -1, -1, Domain::kDense, false, 1, features, spec.outputs(), Size{1, 1}});
  }
  return layers;
}

int64_t dense_flops(const ModelSpec& spec, Size image) {
  return sum_dense(spec, image, false);
}

int64_t halting_flops(const ModelSpec& spec, Size image) {
  return sum_dense(spec, image, true);
}

BlockActivity block_activity(std::span<const int32_t> units, Size size, int unit_count) {
  SACT_ASSERT(int64_t(units.size()) == size.positions());
  // A position is in the dilated active set of unit l exactly when the largest N among it and its
  // eight neighbours is at least l, so both counts are tails of histograms.
  BlockActivity activity(static_cast<size_t>(unit_count));
  auto count = [&](int32_t value, int64_t UnitActivity::*member) {
    SACT_ASSERT(value >= 0 && value <= unit_count);
    if (value > 0) ++(activity[size_t(value - 1)].*member);
  };
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      int32_t largest = 0;
      for (int ny = std::max(y - 1, 0); ny <= std::min(y + 1, size.height - 1); ++ny) {
        for (int nx = std::max(x - 1, 0); nx <= std::min(x + 1, size.width - 1); ++nx) {
          largest = std::max(largest, units[size_t(ny) * size_t(size.width) + size_t(nx)]);
        }
      }
      count(units[size_t(y) * size_t(size.width) + size_t(x)], &UnitActivity::active);
      count(largest, &UnitActivity::dilated);
    }
  }
  for (size_t l = activity.size() - 1; l > 0; --l) {
    activity[l - 1].active += activity[l].active;
    activity[l - 1].dilated += activity[l].dilated;
  }
  return activity;
}

int64_t adaptive_flops(const ModelSpec& spec, Size image, std::span<const BlockActivity> activity) {
  SACT_ASSERT(int(activity.size()) == spec.blocks());
  int64_t sum = 0;
  for (const Layer& layer : layer_list(spec, image)) {
    int64_t positions = layer.positions();
    if (layer.domain != Domain::kDense) {
      const UnitActivity& unit = activity[size_t(layer.block)].at(size_t(layer.unit));
      if (layer.domain == Domain::kDilated) positions = unit.dilated;
      if (layer.domain == Domain::kActive) positions = unit.active;
      if (layer.domain == Domain::kOnce) positions = unit.active > 0 ? 1 : 0;
    }
    sum = checked_sum(sum, layer.flops(positions));
  }
  return sum;
}

int64_t adaptive_flops(const ModelSpec& spec, Size image,
                       const std::vector<std::span<const int32_t>>& units) {
  std::vector<BlockActivity> activity;
  for (int block = 0; block < spec.blocks(); ++block) {
    activity.push_back(block_activity(units[size_t(block)], spec.block_size(block, image),
                                      spec.units[size_t(block)]));
  }
  return adaptive_flops(spec, image, activity);
}

}  // namespace sact
