// Pictures: those that the library reads, and those that lie in a program's own memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sact/error.h"

namespace sact {

namespace io {
struct RgbImage;
}

/// In which order the 8-bit channels of a pixel lie. Transparent pixels are laid over white.
enum class PixelOrder { kRgb, kBgr, kRgba, kBgra, kGrey };

/// A picture in somebody else's memory, which must stay as it is while it is used. Nothing is
/// copied: a row is read where it lies. A cv::Mat of type CV_8UC3 is
///   ImageView{mat.data, mat.cols, mat.rows, ptrdiff_t(mat.step), PixelOrder::kBgr}
struct ImageView {
  const uint8_t* data = nullptr;  // the first pixel of the top row
  int width = 0;
  int height = 0;
  ptrdiff_t stride = 0;  // bytes from a row to the next below it, negative where rows go upwards;
                         // 0: they follow each other without a gap
  PixelOrder order = PixelOrder::kRgb;
};

/// A picture of its own: 8-bit RGB. Copies share the pixels.
class Image {
 public:
  /// Pictures with more pixels are refused before memory is taken for them.
  static constexpr int64_t kMaxPixels = 100000000;

  /// Reads a JPEG, PNG, WebP, TIFF, GIF or BMP, told apart by content, as a viewer would show it:
  /// the orientation is applied, grey, CMYK, 16-bit and transparent pictures become RGB; of several
  /// pictures in a file it is the first.
  static Image load(const std::string& path, int64_t max_pixels = kMaxPixels);
  /// The same from memory; `name` stands in messages.
  static Image decode(const void* bytes, size_t size, const std::string& name = "image",
                      int64_t max_pixels = kMaxPixels);
  /// Three bytes for each pixel, rows from top to bottom without padding.
  static Image from_pixels(int width, int height, std::vector<uint8_t> rgb);
  /// A copy of somebody else's pixels.
  static Image copy(const ImageView& view);

  Image(const Image&) = default;  // and no move: no image is ever without pixels
  Image& operator=(const Image&) = default;

  int width() const;
  int height() const;
  const std::vector<uint8_t>& rgb() const;
  /// The pixels where this image, or a copy of it, has them.
  ImageView view() const&;
  ImageView view() const&& = delete;

 private:
  explicit Image(std::shared_ptr<const io::RgbImage> pixels);
  std::shared_ptr<const io::RgbImage> pixels_;
};

}  // namespace sact
