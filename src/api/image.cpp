#include <new>
#include <span>
#include <utility>

#include "base/error.h"
#include "io/pixel_view.h"
#include "sact/image.h"

namespace sact {

Image::Image(std::shared_ptr<const io::RgbImage> pixels) : pixels_(std::move(pixels)) {}

namespace {

io::ReadOptions read_options(int64_t max_pixels) {
  if (max_pixels < 1 || max_pixels > io::kMostPixels) {
    fail("max_pixels must be 1 to {}, not {}", io::kMostPixels, max_pixels);
  }
  return {.max_pixels = max_pixels, .limit_name = "max_pixels"};
}

}  // namespace

Image Image::load(const std::string& path, int64_t max_pixels) {
  return Image(std::make_shared<io::RgbImage>(io::read_image(path, read_options(max_pixels))));
}

Image Image::decode(const void* bytes, size_t size, const std::string& name, int64_t max_pixels) {
  const std::span<const std::byte> all(static_cast<const std::byte*>(bytes), size);
  return Image(
      std::make_shared<io::RgbImage>(io::decode_image(all, name, read_options(max_pixels))));
}

Image Image::from_pixels(int width, int height, std::vector<uint8_t> rgb) {
  if (width < 1 || height < 1) fail("an image of {} x {} pixels has none", width, height);
  io::check_pixel_count(uint64_t(width), uint64_t(height), "image", {});
  const size_t expected = size_t(width) * size_t(height) * 3;
  if (rgb.size() != expected) {
    fail("an image of {} x {} pixels needs {} bytes (three for each pixel), found {}", width,
         height, expected, rgb.size());
  }
  io::RgbImage image;
  image.width = width;
  image.height = height;
  image.rgb = std::move(rgb);
  return Image(std::make_shared<io::RgbImage>(std::move(image)));
}

Image Image::copy(const ImageView& view) {
  io::check_view(view);
  try {
    return Image(std::make_shared<io::RgbImage>(io::copied(view)));
  } catch (const std::bad_alloc&) {
    fail("there is not enough memory for an image of {}x{}", view.height, view.width);
  }
}

int Image::width() const {
  return pixels_->width;
}

int Image::height() const {
  return pixels_->height;
}

const std::vector<uint8_t>& Image::rgb() const {
  return pixels_->rgb;
}

ImageView Image::view() const& {
  return io::PixelView(*pixels_);
}

}  // namespace sact
