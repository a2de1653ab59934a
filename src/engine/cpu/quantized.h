// What scales of whole numbers make of the layers of a network.
#pragma once

#include <optional>

#include "engine/folding.h"
#include "model/quantization.h"

namespace sact::engine {

/// What the whole numbers stand for that a layer reads and writes. Floats stand for themselves.
struct LayerScales {
  float input = 1, output = 1;
};

/// Throws sact::Error, which says what to do, unless there is a scale for every layer that runs in
/// whole numbers. `name` is the model's.
void expect_input_scales(const ModelSpec& spec, const InputScales& scales, const std::string& name);

/// Of a unit's convolution: it writes what the next reads; the last writes floats.
LayerScales scales_of(const UnitSteps& unit, size_t convolution, const InputScales& scales);

/// The norm before a unit, if it has one, with whole numbers of a scale as its result. Without a
/// norm rows were positive already.
Affine quantizing_norm(const std::optional<Affine>& norm, int channels, float scale);

}  // namespace sact::engine
