#include "io/pixel_view.h"

#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/memory.h"
#include "io/over_white.h"

namespace sact::io {

int channels_of(PixelOrder order) {
  switch (order) {
    case PixelOrder::kRgb:
    case PixelOrder::kBgr:
      return 3;
    case PixelOrder::kRgba:
    case PixelOrder::kBgra:
      return 4;
    case PixelOrder::kGrey:
      return 1;
  }
  fail("there is no order of channels with the number {}", int(order));
}

PixelView::PixelView(const ImageView& view) : ImageView(view) {
  if (stride == 0) stride = ptrdiff_t(width) * channels_of(order);
}

PixelView::PixelView(const RgbImage& image)
    : ImageView{image.rgb.data(), image.width, image.height, ptrdiff_t(image.width) * 3,
                PixelOrder::kRgb} {}

void check_view(const ImageView& view) {
  if (view.width < 1 || view.height < 1) {
    fail("an image of {} x {} pixels has none", view.width, view.height);
  }
  check_pixel_count(uint64_t(view.width), uint64_t(view.height), "image",
                    {.max_pixels = kMostPixels});
  if (!view.data) fail("an image of {} x {} pixels at no address", view.width, view.height);
  const int64_t row = int64_t(view.width) * channels_of(view.order);
  if (view.stride != 0 && std::abs(int64_t(view.stride)) < row) {
    fail("rows of {} bytes cannot begin {} bytes after each other: the stride counts bytes", row,
         view.stride);
  }
}

void unpack_pixels(const uint8_t* from, PixelOrder order, int count, uint8_t* rgb) {
  switch (order) {
    case PixelOrder::kRgb:
      std::memcpy(rgb, from, size_t(count) * 3);
      return;
    case PixelOrder::kRgba:
      rgb_over_white(from, rgb, count);
      return;
    case PixelOrder::kGrey:
      for (int x = 0; x < count; ++x, rgb += 3) rgb[0] = rgb[1] = rgb[2] = from[x];
      return;
    case PixelOrder::kBgr:
      for (int x = 0; x < count; ++x, rgb += 3, from += 3) {
        rgb[0] = from[2], rgb[1] = from[1], rgb[2] = from[0];
      }
      return;
    case PixelOrder::kBgra:
      rgb_over_white(from, rgb, count);
      for (int x = 0; x < count; ++x, rgb += 3) std::swap(rgb[0], rgb[2]);
      return;
  }
}

RgbImage copied(const PixelView& view) {
  expect_memory(size_t(view.width) * size_t(view.height) * 3,
                fmt::format("an image of {}x{}", view.height, view.width));
  RgbImage image(view.width, view.height);
  for (int y = 0; y < view.height; ++y) {
    unpack_pixels(view.pixel(0, y), view.order, view.width, image.pixel(0, y));
  }
  return image;
}

}  // namespace sact::io
