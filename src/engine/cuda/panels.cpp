#include "engine/cuda/panels.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/half.h"

namespace sact::engine {

uint16_t half_bits(float value, cuda::Element type) {
  return type == cuda::Element::kFloat16 ? f16_from_float(value) : bf16_from_float(value);
}

float from_half_bits(uint16_t bits, cuda::Element type) {
  return type == cuda::Element::kFloat16 ? float_from_f16(bits) : float_from_bf16(bits);
}

float rounded_to(float value, cuda::Element type) {
  return type == cuda::Element::kFloat32 ? value : from_half_bits(half_bits(value, type), type);
}

PackedNorm pack_norm(const Affine& norm, cuda::Element type) {
  const size_t channels = norm.scale.size();
  SACT_ASSERT(channels % 16 == 0);
  PackedNorm packed;
  std::vector<uint16_t> signs, shifts;
  for (size_t c = 0; c < channels; ++c) {
    const float scale = norm.scale[c], shift = norm.shift[c];
    // With |scale| for its factor s is a sign, and exact. fp16 has a short range: there c stays
    // small, and s may be less than 1.
    constexpr float kMostShift = 64;
    float factor = std::fabs(scale);
    if (type == cuda::Element::kFloat16) factor = std::max(factor, std::fabs(shift) / kMostShift);
    const bool constant = scale == 0;  // relu(0 x + 1) times that
    packed.weight_factors.push_back(constant ? std::fmax(shift, 0.0f) : factor);
    signs.push_back(half_bits(constant ? 0.0f : scale / factor, type));
    shifts.push_back(half_bits(constant ? 1.0f : shift / factor, type));
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
std::vector<uint16_t> pack(const std::vector<float>& weights, size_t taps, size_t width,
                           size_t height, cuda::Element type) {
  const size_t depth = weights.size() / width, channels = depth / taps, steps = depth / 64;
  SACT_ASSERT(width % height == 0 && channels % 64 == 0);
  std::vector<uint16_t> panels(weights.size());
  uint16_t* to = panels.data();
  for (size_t panel = 0; panel < width / height; ++panel) {
    for (size_t step = 0; step < steps; ++step, to += height * 64) {
      const size_t first = step % taps * channels + step / taps * 64;
      for (size_t row = 0; row < height; ++row) {
        for (size_t k = 0; k < 64; ++k) {
          to[row * 64 + ((k / 8) ^ (row & 7)) * 8 + k % 8] =
              half_bits(weights[(first + k) * width + panel * height + row], type);
        }
      }
    }
  }
  return panels;
}

}  // namespace

std::vector<uint16_t> pack_panels(const std::vector<float>& weights, int taps, int columns,
                                  cuda::Element type) {
  return pack(weights, size_t(taps), size_t(columns), 64, type);
}

std::vector<uint16_t> pack_score(const FoldedScore& score, cuda::Element type) {
  constexpr size_t kWidth = 16;
  const size_t channels = score.global.size();
  std::vector<float> weights(channels * kWidth);
  for (size_t c = 0; c < channels; ++c) {
    for (size_t tap = 0; tap < FoldedScore::kTaps && !score.taps.empty(); ++tap) {
      weights[c * kWidth + tap] = score.taps[tap * channels + c];
    }
    weights[c * kWidth + FoldedScore::kTaps] = score.global[c];
  }
  return pack(weights, 1, kWidth, kWidth, type);
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
