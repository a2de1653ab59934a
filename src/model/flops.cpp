#include "model/flops.h"

#include <algorithm>

#include "base/error.h"

namespace sact {
namespace {

/// Collects layers; `size` is that of what a step reads, and becomes that of what it makes.
class LayerCollector {
 public:
  void add(const ConvStep& step, Size& size, int block = -1, int unit = -1) {
    size = step.output(size);
    layers.push_back(
        {step.name, block, unit, step.domain, false, step.kernel, step.in, step.out, size});
  }
  void add(const UnitSteps& steps, Size& size, int block, int unit) {
    if (steps.shortcut) {
      Size read = size;
      add(*steps.shortcut, read, block, unit);
    }
    for (const ConvStep& step : steps.convolutions) add(step, size, block, unit);
    if (!steps.halting) return;
    const HaltingStep& halting = *steps.halting;
    const Domain active = steps.convolutions.back().domain;
    if (halting.local) {
      layers.push_back(
          {halting.local_name(), block, unit, active, true, 3, halting.channels, 1, size});
    }
    layers.push_back(
        {halting.global_name(), block, unit, Domain::kOnce, true, 1, halting.channels, 1, size});
  }

  std::vector<LayerCost> layers;
};

int64_t checked_sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) fail("the FLOPs of this network do not fit 64 bits");
  return sum;
}

int64_t sum_dense(const ModelSpec& spec, Size image, bool halting) {
  int64_t sum = 0;
  for (const LayerCost& layer : layer_list(spec, image)) {
    if (layer.halting == halting) sum = checked_sum(sum, layer.flops(layer.positions()));
  }
  return sum;
}

}  // namespace

int64_t LayerCost::flops(int64_t at_positions) const {
  int64_t product = 2;
  for (int64_t factor :
       {at_positions, int64_t(kernel) * kernel, int64_t(in_channels), int64_t(out_channels)}) {
    if (__builtin_mul_overflow(product, factor, &product)) {
      fail("the FLOPs of layer {} do not fit 64 bits", name);
    }
  }
  return product;
}

std::vector<LayerCost> layer_list(const ModelSpec& spec, Size image) {
  SACT_ASSERT(!spec.detection);  // its parts have layers; see detection.h
  const Architecture architecture(spec);
  LayerCollector collect;
  Size size = image;
  if (architecture.stem) {
    validate_image_size(image);
    collect.add(architecture.stem->convolution, size);
    if (architecture.stem->pool) size = architecture.stem->pool->output(size);
  }
  for (size_t block = 0; block < architecture.blocks.size(); ++block) {
    const auto& units = architecture.blocks[block];
    for (size_t unit = 0; unit < units.size(); ++unit) {
      collect.add(units[unit], size, int(block), int(unit));
    }
  }
  size = {1, 1};  // one vector for each image
  if (architecture.head) collect.add(architecture.head->linear, size);
  return std::move(collect.layers);
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
  const auto at = [&](std::span<const int32_t> values, int y, int x) {
    return values[size_t(y) * size_t(size.width) + size_t(x)];
  };
  std::vector<int32_t> along_lines(units.size());  // the largest among it, left and right
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      int32_t largest = at(units, y, x);
      if (x > 0) largest = std::max(largest, at(units, y, x - 1));
      if (x + 1 < size.width) largest = std::max(largest, at(units, y, x + 1));
      along_lines[size_t(y) * size_t(size.width) + size_t(x)] = largest;
    }
  }
  auto count = [&](int32_t value, int64_t UnitActivity::*member) {
    SACT_ASSERT(value >= 0 && value <= unit_count);
    if (value > 0) ++(activity[size_t(value - 1)].*member);
  };
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      int32_t largest = at(along_lines, y, x);
      if (y > 0) largest = std::max(largest, at(along_lines, y - 1, x));
      if (y + 1 < size.height) largest = std::max(largest, at(along_lines, y + 1, x));
      count(at(units, y, x), &UnitActivity::active);
      count(largest, &UnitActivity::dilated);
    }
  }
  for (size_t l = activity.size() - 1; l > 0; --l) {
    activity[l - 1].active += activity[l].active;
    activity[l - 1].dilated += activity[l].dilated;
  }
  return activity;
}

int64_t adaptive_flops(std::span<const LayerCost> layers, std::span<const BlockActivity> activity) {
  int64_t sum = 0;
  for (const LayerCost& layer : layers) {
    int64_t positions = layer.positions();
    if (layer.domain != Domain::kDense) {
      SACT_ASSERT(size_t(layer.block) < activity.size());
      const UnitActivity& unit = activity[size_t(layer.block)].at(size_t(layer.unit));
      if (layer.domain == Domain::kDilated) positions = unit.dilated;
      if (layer.domain == Domain::kActive) positions = unit.active;
      if (layer.domain == Domain::kOnce) positions = unit.active > 0 ? 1 : 0;
    }
    sum = checked_sum(sum, layer.flops(positions));
  }
  return sum;
}

int64_t adaptive_flops(const ModelSpec& spec, Size image, std::span<const LayerCost> layers,
                       const std::vector<std::span<const int32_t>>& units) {
  std::vector<BlockActivity> activity;
  for (int block = 0; block < spec.blocks(); ++block) {
    activity.push_back(block_activity(units[size_t(block)], spec.block_size(block, image),
                                      spec.units[size_t(block)]));
  }
  return adaptive_flops(layers, activity);
}

}  // namespace sact
