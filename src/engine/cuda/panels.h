// Weights as the tensor cores of a GPU read them, in a type of 16 bits.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/folding.h"
#include "kernels/cuda/inference/calls.h"

namespace sact::engine {

/// The bits of a number rounded to a type of 16 bits.
uint16_t half_bits(float value, cuda::Element type);
float from_half_bits(uint16_t bits, cuda::Element type);
/// Rounded to any type.
float rounded_to(float value, cuda::Element type);

/// A norm with its ReLU as f relu(s x + c): s and c for the kernel, f for the weights.
struct PackedNorm {
  std::vector<uint32_t> pairs;        // see tensor::Arguments::norm
  std::vector<float> weight_factors;  // [channels]
};
/// Of a multiple of 16 channels.
PackedNorm pack_norm(const Affine& norm, cuda::Element type);

/// [columns / 64][steps][64 columns][64 channels] of weights [taps, channels, columns], whose
/// columns and channels are multiples of 64; a step is a tap of 64 channels, and the taps of these
/// follow each other. Pieces of 16 bytes are swizzled by their row.
std::vector<uint16_t> pack_panels(const std::vector<float>& weights, int taps, int columns,
                                  cuda::Element type);

/// [channels / 64][16][64] of a score's weights: nine taps, the global ones, and zeros.
std::vector<uint16_t> pack_score(const FoldedScore& score, cuda::Element type);

/// The depth of a 7x7 stem as cuda::kStemSteps want it: weights [out, 3, 7, 7] as [256, out].
std::vector<float> stem_depths(const std::vector<float>& weights, int out);

}  // namespace sact::engine
