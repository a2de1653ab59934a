// Analytic floating point operations of a network, dense and for given active sets.
//
// A multiply-add counts as two; only convolutions and the final fully connected layer count. In an
// adaptive block, after its first unit, conv1 is evaluated on the 3x3 dilation of the active set,
// the other convolutions and the local halting convolution on the active set itself.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/architecture.h"

namespace sact {

/// A layer that counts, for images of one size.
struct LayerCost {
  std::string name;  // as its weight, without ".weight"
  int block = -1;    // -1: stem and head
  int unit = -1;
  Domain domain = Domain::kDense;
  bool halting = false;  // computes a halting score: not part of the plain network
  int kernel = 1, in_channels = 0, out_channels = 0;
  Size size;  // of the output

  int64_t positions() const { return domain == Domain::kOnce ? 1 : size.positions(); }
  int64_t flops(int64_t at_positions) const;
};

/// Every layer that counts, in the order of evaluation.
std::vector<LayerCost> layer_list(const ModelSpec& spec, Size image);

/// FLOPs of the plain network: every unit everywhere, no halting scores.
int64_t dense_flops(const ModelSpec& spec, Size image);

/// FLOPs of all halting scores when no position ever halts early.
int64_t halting_flops(const ModelSpec& spec, Size image);

/// Positions at which one unit is evaluated.
struct UnitActivity {
  int64_t active = 0;   // size of the active set
  int64_t dilated = 0;  // size of its 3x3 dilation
};
using BlockActivity = std::vector<UnitActivity>;  // one for each unit

/// From the number of units N that each position of a block was given: unit l (from 1) is active
/// where N >= l.
BlockActivity block_activity(std::span<const int32_t> units, Size size, int unit_count);

/// FLOPs of one image; `activity` has one entry for each block.
int64_t adaptive_flops(std::span<const LayerCost> layers, std::span<const BlockActivity> activity);

/// The same from every block's map of N, in reading order. `layers` are those of layer_list(),
/// which many images of one size share.
int64_t adaptive_flops(const ModelSpec& spec, Size image, std::span<const LayerCost> layers,
                       const std::vector<std::span<const int32_t>>& units);

}  // namespace sact
