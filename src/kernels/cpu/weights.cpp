#include "kernels/cpu/weights.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/error.h"

namespace sact::kernels {
namespace {

template <typename Half>
void store_halves(const float* from, int64_t count, void* to) {
  std::transform(from, from + count, static_cast<uint16_t*>(to), Half::element);
}
constexpr Storage kBFloat16Weights = {2, store_halves<BFloat16>};
constexpr Storage kFloat16Weights = {2, store_halves<Float16>};

/// `from` is [rows, columns].
template <typename Half>
void widen(const uint16_t* from, int64_t rows, int columns, const float* scales, float* to) {
  for (int64_t row = 0; row < rows; ++row, from += columns, to += columns) {
    for (int c = 0; c < columns; ++c) to[c] = Half::value(from[c]) * scales[c];
  }
}

/// Those that the matrix has.
const float* given_scales(const PackedWeights& packed, const WeightMatrix& matrix, Arena& arena) {
  const int64_t padded = int64_t(packed.panels()) * packed.panel_columns;
  float* scales = arena.take<float>(padded);
  std::fill_n(scales, padded, 1.0f);
  if (matrix.scales) std::copy_n(matrix.scales, matrix.columns, scales);
  return scales;
}

/// For each column the scale that makes its largest weight as large as the type can store.
const float* column_scales(const PackedWeights& packed, const WeightMatrix& matrix, Arena& arena) {
  float* scales = arena.take<float>(int64_t(packed.panels()) * packed.panel_columns);
  for (int column = 0; column < matrix.columns; ++column) {
    float largest = 0;
    for (int k = 0; k < matrix.depth; ++k) {
      for (int tap = 0; tap < matrix.taps; ++tap) {
        const float weight = matrix.at(column, k)[tap * matrix.strides.tap];
        largest = std::max(largest, std::abs(weight));
      }
    }
    scales[column] = largest > 0 ? largest / packed.type->largest_weight : 1.0f;
  }
  return scales;
}

/// Groups of depths [first, last) of one panel, as [tap, group, column, depth in the group].
void gather(const PackedWeights& packed, const WeightMatrix& matrix, int panel, int first, int last,
            float* piece) {
  const int group = packed.type->depth_group, width = packed.panel_columns;
  const int64_t tap_size = int64_t(last - first) * width * group;
  std::fill_n(piece, packed.taps * tap_size, 0.0f);
  for (int lane = 0; lane < std::min(width, matrix.columns - panel * width); ++lane) {
    const int column = panel * width + lane;
    const bool divided = packed.type->largest_weight > 0;
    const float factor = divided ? 1 / packed.scales[column] : 1.0f;
    for (int number = first; number < last; ++number) {
      float* to = piece + (int64_t(number - first) * width + lane) * group;
      const int k = number * group, end = std::min(k + group, matrix.depth);
      const float* from = matrix.at(column, k);
      for (int i = 0; i < end - k; ++i, from += matrix.strides.depth) {
        for (int tap = 0; tap < packed.taps; ++tap) {
          to[tap * tap_size + i] = from[tap * matrix.strides.tap] * factor;
        }
      }
    }
  }
}

}  // namespace

const void* PackedWeights::panel(int number) const {
  return static_cast<const std::byte*>(data) + number * panel_elements() * storage().bytes;
}

const Storage& PackedWeights::storage() const {
  switch (stored) {
    case WeightStorage::kBFloat16:
      return kBFloat16Weights;
    case WeightStorage::kFloat16:
      return kFloat16Weights;
    case WeightStorage::kOperand:
      break;
  }
  return type->weights;
}

PackedWeights pack_weights(const OperandType& type, const PanelLayout& layout,
                           const WeightMatrix& matrix, Arena& arena) {
  constexpr int kPieceFloats = 4096;  // fit the first cache
  const bool halves = matrix.stored != WeightStorage::kOperand;
  SACT_ASSERT(!halves || type.type == DataType::kFloat32);
  PackedWeights packed{&type,        matrix.stored,  matrix.taps,
                       matrix.depth, matrix.columns, layout.columns};
  packed.padded_depth = type.padded_depth(int(padded_depth(matrix.depth, layout.depth_step)));
  const int bytes = packed.storage().bytes, row = layout.columns * type.depth_group;
  std::byte* data = arena.take<std::byte>(packed.panels() * packed.panel_elements() * bytes);
  packed.data = data;
  if (type.largest_weight > 0) packed.scales = column_scales(packed, matrix, arena);
  if (halves) packed.scales = given_scales(packed, matrix, arena);
  const int groups = int(packed.padded_depth) / type.depth_group;
  const int together = std::clamp(kPieceFloats / (row * matrix.taps), 1, groups);
  std::vector<float> piece(size_t(matrix.taps) * size_t(together) * size_t(row));
  for (int panel = 0; panel < packed.panels(); ++panel) {
    for (int first = 0; first < groups; first += together) {
      const int last = std::min(first + together, groups);
      gather(packed, matrix, panel, first, last, piece.data());
      const int64_t count = int64_t(last - first) * row;
      for (int64_t tap = 0; tap < matrix.taps; ++tap) {
        std::byte* to = data + ((panel * matrix.taps + tap) * groups + first) * row * bytes;
        packed.storage().store(piece.data() + tap * count, count, to);
      }
    }
  }
  return packed;
}

WeightStorage exact_storage(std::span<const float> numbers) {
  constexpr size_t kPiece = 4096;  // most weights of 32 bits show that they are in the first
  bool bf16 = true, f16 = true;
  for (size_t first = 0; first < numbers.size() && (bf16 || f16); first += kPiece) {
    for (const float number : numbers.subspan(first, std::min(kPiece, numbers.size() - first))) {
      bf16 &= fits_bf16(number);
      f16 &= fits_f16(number);
    }
  }
  return bf16 ? WeightStorage::kBFloat16 : f16 ? WeightStorage::kFloat16 : WeightStorage::kOperand;
}

const float* float_panel(const PackedWeights& packed, int number) {
  SACT_ASSERT(packed.type->type == DataType::kFloat32);
  if (packed.stored == WeightStorage::kOperand) {
    return static_cast<const float*>(packed.panel(number));
  }
  const auto* from = static_cast<const uint16_t*>(packed.panel(number));
  const int64_t rows = packed.taps * packed.padded_depth;
  const float* scales = packed.scales + int64_t(number) * packed.panel_columns;
  float* to = thread_panel(packed.panel_elements());
  const bool bf16 = packed.stored == WeightStorage::kBFloat16;
  (bf16 ? widen<BFloat16> : widen<Float16>)(from, rows, packed.panel_columns, scales, to);
  return to;
}

float* thread_panel(int64_t numbers) {
  static thread_local Arena arena(0);
  static thread_local int64_t room = 0;
  static thread_local float* panel = nullptr;
  if (numbers > room) {
    room = 0;
    arena = Arena(0);  // before more is taken
    panel = arena.take<float>(numbers);
    room = numbers;
  }
  return panel;
}

}  // namespace sact::kernels
