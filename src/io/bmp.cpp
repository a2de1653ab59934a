// BMP in memory: 1, 4, 8, 16, 24 and 32 bits a pixel, with palettes and bit fields.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "io/more_formats.h"
#include "io/over_white.h"

namespace sact::io {
namespace {

constexpr size_t kFileHeader = 14, kCoreHeader = 12, kInfoHeader = 40;
constexpr uint32_t kNotCompressed = 0, kBitFields = 3, kAlphaBitFields = 6;

/// Where the bits of a channel stand in a pixel of 16 or 32 bits.
struct Field {
  uint32_t mask = 0;

  uint8_t of(uint32_t pixel) const {
    if (mask == 0) return 0;
    const int shift = std::countr_zero(mask);
    const uint64_t most = mask >> shift;
    return uint8_t((uint64_t((pixel & mask) >> shift) * 255 + most / 2) / most);
  }
};

class BmpDecoder {
 public:
  BmpDecoder(std::span<const std::byte> bytes, const std::string& name)
      : bytes_(bytes), name_(name) {}

  ImageHeader header(const ReadOptions& options) {
    read_header(options);
    return {width_, height_, "BMP", bits_ == 16 ? 5 : 8, fields_[3].mask != 0};
  }

  RgbImage decode(const ReadOptions& options) {
    read_header(options);
    RgbImage image(width_, height_);
    const bool transparent = fields_[3].mask != 0 && !alpha_is_empty();
    std::vector<uint8_t> rgba(transparent ? size_t(width_) * 4 : 0);
    for (int y = 0; y < height_; ++y) {
      const size_t row = pixels_ + row_bytes_ * size_t(top_down_ ? y : height_ - 1 - y);
      if (bits_ <= 8) {
        read_palette_row(row, image.pixel(0, y));
      } else if (bits_ == 24) {
        read_plain_row(row, image.pixel(0, y));
      } else if (transparent) {
        read_field_row(row, rgba.data(), 4);
        rgb_over_white(rgba.data(), image.pixel(0, y), width_);
      } else {
        read_field_row(row, image.pixel(0, y), 3);
      }
    }
    return image;
  }

 private:
  [[noreturn]] void refuse(const std::string& problem) const {
    fail("{}: cannot be decoded as BMP: {}; the file is damaged or of a kind not supported here",
         name_, problem);
  }

  /// A number in little-endian order.
  uint32_t number(size_t offset, size_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) refuse("the file ends too early");
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) value |= uint32_t(bytes_[offset + i]) << (8 * i);
    return value;
  }

  void read_header(const ReadOptions& options) {
    const size_t size = number(kFileHeader, 4);
    const bool core = size == kCoreHeader;
    if (!core && (size < kInfoHeader || size > 1024)) refuse("its header is of no known kind");
    const int64_t width = core ? int64_t(number(18, 2)) : int32_t(number(18, 4));
    const int64_t height = core ? int64_t(number(20, 2)) : int32_t(number(22, 4));
    top_down_ = height < 0;
    if (width < 0) refuse("its width is negative");
    check_pixel_count(uint64_t(width), uint64_t(std::abs(height)), name_, options);
    width_ = int(width);
    height_ = int(std::abs(height));
    bits_ = int(number(core ? 24 : 28, 2));
    const uint32_t compression = core ? kNotCompressed : number(30, 4);
    check_kind(compression);
    if (bits_ == 16 || bits_ == 32) read_fields(size, compression);
    if (bits_ <= 8) read_palette(size, core);
    pixels_ = number(10, 4);
    row_bytes_ = (size_t(width_) * size_t(bits_) + 31) / 32 * 4;
    const uint64_t needed = uint64_t(row_bytes_) * uint64_t(height_);
    if (pixels_ > bytes_.size() || needed > bytes_.size() - pixels_) {
      refuse("the file ends too early");
    }
  }

  void check_kind(uint32_t compression) const {
    constexpr int kDepths[] = {1, 4, 8, 16, 24, 32};
    if (std::find(std::begin(kDepths), std::end(kDepths), bits_) == std::end(kDepths)) {
      refuse(fmt::format("it has {} bits a pixel", bits_));
    }
    if (compression == 1 || compression == 2) {
      refuse("it uses run-length coding; save it without compression, or as a PNG");
    }
    const bool fields = compression == kBitFields || compression == kAlphaBitFields;
    if (compression != kNotCompressed && !(fields && (bits_ == 16 || bits_ == 32))) {
      refuse(fmt::format("it uses compression {}", compression));
    }
  }

  /// The masks of red, green, blue and alpha; newer headers hold them, older ones are followed by
  /// them.
  void read_fields(size_t header_size, uint32_t compression) {
    fields_ = bits_ == 16 ? std::array<Field, 4>{{{0x7c00}, {0x03e0}, {0x001f}, {}}}
                          : std::array<Field, 4>{{{0xff0000}, {0x00ff00}, {0x0000ff}, {}}};
    if (compression == kNotCompressed) return;
    const bool alpha = header_size >= 56 || compression == kAlphaBitFields;
    for (size_t i = 0; i < (alpha ? 4u : 3u); ++i) {
      fields_[i].mask = number(kFileHeader + kInfoHeader + 4 * i, 4);
    }
  }

  void read_palette(size_t header_size, bool core) {
    const size_t most = size_t(1) << bits_, entry = core ? 3 : 4;
    const size_t stated = core ? 0 : number(46, 4);
    const size_t count = stated == 0 || stated > most ? most : stated;
    const size_t start = kFileHeader + header_size;
    for (size_t i = 0; i < count; ++i) {
      // Files of few colours may end their palette early, where the pixels begin.
      if (start + (i + 1) * entry > number(10, 4)) break;
      for (size_t c = 0; c < 3; ++c) {
        palette_[colors_][c] = uint8_t(number(start + i * entry + 2 - c, 1));
      }
      ++colors_;
    }
  }

  uint8_t byte(size_t offset) const { return uint8_t(bytes_[offset]); }

  void read_palette_row(size_t row, uint8_t* rgb) const {
    const size_t per_byte = 8 / size_t(bits_);
    const unsigned mask = (1u << bits_) - 1;
    for (size_t x = 0; x < size_t(width_); ++x, rgb += 3) {
      const size_t shift = size_t(bits_) * (per_byte - 1 - x % per_byte);
      const unsigned index = unsigned(byte(row + x / per_byte)) >> shift & mask;
      if (index >= colors_) refuse("a pixel has a colour that is not in the palette");
      std::copy_n(palette_[index].begin(), 3, rgb);
    }
  }

  void read_plain_row(size_t row, uint8_t* rgb) const {
    for (int x = 0; x < width_; ++x, row += 3, rgb += 3) {
      for (size_t c = 0; c < 3; ++c) rgb[c] = byte(row + 2 - c);
    }
  }

  uint32_t field_pixel(size_t offset) const {
    uint32_t value = 0;
    for (size_t i = 0; i < size_t(bits_) / 8; ++i) value |= uint32_t(byte(offset + i)) << (8 * i);
    return value;
  }

  void read_field_row(size_t row, uint8_t* target, size_t channels) const {
    const size_t step = size_t(bits_) / 8;
    for (int x = 0; x < width_; ++x, row += step) {
      const uint32_t pixel = field_pixel(row);
      for (size_t c = 0; c < channels; ++c) *target++ = fields_[c].of(pixel);
    }
  }

  /// Many programs write an alpha channel of zeros and mean an opaque picture.
  bool alpha_is_empty() const {
    const size_t step = size_t(bits_) / 8;
    for (int y = 0; y < height_; ++y) {
      for (int x = 0; x < width_; ++x) {
        const size_t offset = pixels_ + row_bytes_ * size_t(y) + step * size_t(x);
        if (field_pixel(offset) & fields_[3].mask) return false;
      }
    }
    return true;
  }

  std::span<const std::byte> bytes_;
  const std::string& name_;
  int width_ = 0, height_ = 0, bits_ = 0;
  bool top_down_ = false;
  size_t pixels_ = 0, row_bytes_ = 0, colors_ = 0;
  std::array<Field, 4> fields_{};
  std::array<std::array<uint8_t, 3>, 256> palette_{};
};

}  // namespace

RgbImage decode_bmp(std::span<const std::byte> bytes, const std::string& name,
                    const ReadOptions& options) {
  return BmpDecoder(bytes, name).decode(options);
}

ImageHeader bmp_header(std::span<const std::byte> bytes, const std::string& name,
                       const ReadOptions& options) {
  return BmpDecoder(bytes, name).header(options);
}

}  // namespace sact::io
