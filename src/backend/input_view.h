// The images of a run as they lie in somebody else's memory.
#pragma once

#include <cstdint>
#include <span>

#include "base/error.h"
#include "base/size.h"

namespace sact {

/// How the values of one image lie: pixel by pixel, as decoders give them, or channel by channel.
enum class InputLayout { kPixels /* [H, W, C] */, kPlanes /* [C, H, W] */ };

/// Normalised images of one size, one after another. Whoever made the view keeps the values alive
/// and unchanged while it is used. Features that enter a network without a stem are pixels of many
/// channels.
struct InputView {
  std::span<const float> values;
  int count = 0;
  Size size;
  InputLayout layout = InputLayout::kPixels;
  int channels = 3;

  int64_t image_values() const { return channels * size.positions(); }
  bool complete() const {
    return count > 0 && size.positions() > 0 && int64_t(values.size()) == count * image_values();
  }
  /// Some of the images.
  InputView part(int first, int number) const {
    SACT_ASSERT(first >= 0 && number >= 0 && first + number <= count);
    const size_t each = size_t(image_values());
    return {values.subspan(size_t(first) * each, size_t(number) * each), number, size, layout,
            channels};
  }
};

inline InputView pixels_view(std::span<const float> values, int count, Size size,
                             int channels = 3) {
  return {values, count, size, InputLayout::kPixels, channels};
}
inline InputView planes_view(std::span<const float> values, int count, Size size) {
  return {values, count, size, InputLayout::kPlanes, 3};
}

}  // namespace sact
