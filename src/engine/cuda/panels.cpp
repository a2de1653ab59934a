#include "engine/cuda/panels.h"

#include <bit>
#include <cmath>

#include "base/error.h"
#include "kernels/cuda/inference/calls.h"

namespace sact::engine {

uint16_t bf16_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (value != value) return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);  // to nearest, ties to even
}

float rounded_to_bf16(float value) {
  return std::bit_cast<float>(uint32_t(bf16_bits(value)) << 16);
}

PackedNorm pack_norm(const Affine& norm) {
  const size_t channels = norm.scale.size();
  SACT_ASSERT(channels % 16 == 0);
  PackedNorm packed;
  std::vector<uint16_t> signs, shifts;
  for (size_t c = 0; c < channels; ++c) {
    const float scale = norm.scale[c], shift = norm.shift[c], size = std::fabs(scale);
    // Without a scale it is a constant: relu(0 x + 1) times that.
    packed.weight_factors.push_back(size > 0 ? size : std::fmax(shift, 0.0f));
    signs.push_back(bf16_bits(size > 0 ? std::copysign(1.0f, scale) : 0.0f));
    shifts.push_back(bf16_bits(size > 0 ? shift / size : 1.0f));
  }
  const auto pair = [](const std::vector<uint16_t>& values, size_t c) {
    return uint32_t(values[c]) | uint32_t(values[c + 1]) << 16;
  };
  for (size_t first = 0; first < channels; first += 16) {
    for (size_t t = 0; t < 4; ++t) {
      for (const size_t c : {first + 2 * t, first + 2 * t + 8}) {
        packed.pairs.push_back(pair(signs, c));
        packed.pairs.push_back(pair(shifts, c));
      }
    }
  }
  return packed;
}

namespace {

/// [columns / height][steps][height columns][64 of the depth], swizzled.
std::vector<uint16_t> pack(const std::vector<float>& weights, size_t width, size_t height) {
  const size_t depth = weights.size() / width, steps = depth / 64;
  SACT_ASSERT(width % height == 0 && depth % 64 == 0);
  std::vector<uint16_t> panels(weights.size());
  uint16_t* to = panels.data();
  for (size_t panel = 0; panel < width / height; ++panel) {
    for (size_t step = 0; step < steps; ++step, to += height * 64) {
      for (size_t row = 0; row < height; ++row) {
        for (size_t k = 0; k < 64; ++k) {
          to[row * 64 + ((k / 8) ^ (row & 7)) * 8 + k % 8] =
              bf16_bits(weights[(step * 64 + k) * width + panel * height + row]);
        }
      }
    }
  }
  return panels;
}

}  // namespace

std::vector<uint16_t> pack_panels(const std::vector<float>& weights, int columns) {
  return pack(weights, size_t(columns), 64);
}

std::vector<uint16_t> pack_score(const FoldedScore& score) {
  constexpr size_t kWidth = 16;
  const size_t channels = score.global.size();
  std::vector<float> weights(channels * kWidth);
  for (size_t c = 0; c < channels; ++c) {
    for (size_t tap = 0; tap < FoldedScore::kTaps && !score.taps.empty(); ++tap) {
      weights[c * kWidth + tap] = score.taps[tap * channels + c];
    }
    weights[c * kWidth + FoldedScore::kTaps] = score.global[c];
  }
  return pack(weights, kWidth, kWidth);
}

std::vector<float> stem_depths(const std::vector<float>& weights, int out) {
  constexpr int kSide = 7, kPixels = 8;
  std::vector<float> depths(size_t(cuda::kStemSteps * 64 * out));
  for (int line = 0; line < kSide; ++line) {
    for (int x = 0; x < kSide; ++x) {
      for (int colour = 0; colour < 3; ++colour) {
        const int k = (line * kPixels + x) * cuda::kStemChannels + colour;
        for (int o = 0; o < out; ++o) {
          depths[size_t(k * out + o)] =
              weights[size_t(((o * 3 + colour) * kSide + line) * kSide + x)];
        }
      }
    }
  }
  return depths;
}

}  // namespace sact::engine
