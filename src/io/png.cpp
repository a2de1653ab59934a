// PNG in memory, by libpng: every colour type to 8-bit RGB, transparency over white.
#include "io/png.h"

#include <png.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "io/decoding_memory.h"
#include "io/escape.h"
#include "io/exif.h"
#include "io/over_white.h"

namespace sact::io {
namespace {

constexpr size_t kMaxChunkBytes = 16 << 20;  // image data excepted
constexpr int kMaxKeptChunks = 16;

[[noreturn]] void stop(png_structp png, const char* problem) {
  static_cast<Escape*>(png_get_error_ptr(png))->leave(problem);
}

void ignore_warning(png_structp, const char*) {}

void take_bytes(png_structp png, png_bytep target, size_t size) {
  auto* rest = static_cast<std::span<const std::byte>*>(png_get_io_ptr(png));
  if (size > rest->size()) png_error(png, "the file ends too early");
  std::memcpy(target, rest->data(), size);
  *rest = rest->subspan(size);
}

uint32_t big_endian(const std::byte* bytes) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | uint32_t(bytes[i]);
  return value;
}

/// The orientation of the picture, which may stand in front of the pixels or behind them.
int orientation_of(std::span<const std::byte> file) {
  constexpr size_t kMagicBytes = 8, kLengthAndType = 8, kCrcBytes = 4;
  std::span<const std::byte> rest = file.subspan(std::min(file.size(), kMagicBytes));
  while (rest.size() >= kLengthAndType) {
    const size_t length = big_endian(rest.data());
    const bool is_exif = std::memcmp(rest.data() + 4, "eXIf", 4) == 0;
    rest = rest.subspan(kLengthAndType);
    if (length > rest.size()) break;
    if (is_exif) return exif_orientation({reinterpret_cast<const uint8_t*>(rest.data()), length});
    rest = rest.subspan(std::min(rest.size(), length + kCrcBytes));
  }
  return 1;
}

class PngDecoder {
 public:
  PngDecoder(std::span<const std::byte> bytes, const std::string& name)
      : rest_(bytes), size_(bytes.size()), orientation_(orientation_of(bytes)), name_(name) {}
  ~PngDecoder() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;

  ImageHeader header(const ReadOptions& options) {
    read_header();
    const uint32_t width = png_get_image_width(png_, info_);
    const uint32_t height = png_get_image_height(png_, info_);
    check_pixel_count(width, height, name_, options);
    check_plausible(height);
    ImageHeader header{int(width), int(height), "PNG", png_get_bit_depth(png_, info_), !opaque()};
    if (swaps_axes(orientation_)) std::swap(header.width, header.height);
    return header;
  }

  RgbImage decode(const ReadOptions& options) {
    header(options);
    set_transformations();
    check_memory(options);
    RgbImage image{int(png_get_image_width(png_, info_)), int(png_get_image_height(png_, info_))};
    opaque_ ? read_opaque_rows(image) : read_transparent_rows(image);
    // To the end, although all pixels are here: half a download should be noticed.
    run([this] { png_read_end(png_, info_); });
    return apply_orientation(std::move(image), orientation_);
  }

 private:
  template <typename Step>
  void run(Step step) {
    if (!attempt(escape_, step)) refuse(printable(escape_.problem));
  }

  [[noreturn]] void refuse(const std::string& problem) const {
    fail("{}: cannot be decoded as PNG: {}; the file is damaged or of a kind not supported here",
         name_, problem);
  }

  void read_header() {
    run([this] {
      png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &escape_, stop, ignore_warning);
      if (png_) info_ = png_create_info_struct(png_);
      if (!info_) escape_.leave("not enough memory");
      png_set_read_fn(png_, &rest_, take_bytes);
      png_set_user_limits(png_, kMaxSide, kMaxSide);
      png_set_chunk_malloc_max(png_, kMaxChunkBytes);
      png_set_chunk_cache_max(png_, kMaxKeptChunks);
      png_set_crc_action(png_, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
      // Texts and profiles are passed over, not unpacked.
      png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
      png_read_info(png_, info_);
    });
  }

  /// Deflate has a largest ratio, so a short file cannot claim a huge picture.
  void check_plausible(uint32_t height) const {
    const uint64_t unpacked = uint64_t(png_get_rowbytes(png_, info_)) * height;
    if (unpacked / kMaxInflateRatio > size_) {
      refuse(fmt::format("{} bytes are too few for {} x {} pixels", size_,
                         png_get_image_width(png_, info_), height));
    }
  }

  bool opaque() const {
    return !(png_get_color_type(png_, info_) & PNG_COLOR_MASK_ALPHA) &&
           !png_get_valid(png_, info_, PNG_INFO_tRNS);
  }

  /// Asks for RGB, or RGBA where there is transparency.
  void set_transformations() {
    opaque_ = opaque();
    run([this] {
      png_set_expand(png_);
      png_set_gray_to_rgb(png_);
      if (opaque_) png_set_scale_16(png_);
      passes_ = png_set_interlace_handling(png_);
      png_read_update_info(png_, info_);
    });
  }

  /// Interlaced rows are completed pass by pass and must all be kept.
  void check_memory(const ReadOptions& options) const {
    const uint64_t height = png_get_image_height(png_, info_);
    const uint64_t image = 3 * height * png_get_image_width(png_, info_);
    const uint64_t kept = !opaque_ && passes_ > 1 ? height * png_get_rowbytes(png_, info_) : 0;
    check_decoding_bytes(std::max(image + kept, decoded_bytes(image, orientation_)), size_, name_,
                         options);
  }

  void read_opaque_rows(RgbImage& image) {
    SACT_ASSERT(png_get_rowbytes(png_, info_) == size_t(image.width) * 3);
    run([this, &image] {
      for (int pass = 0; pass < passes_; ++pass) {
        for (int y = 0; y < image.height; ++y) png_read_row(png_, image.pixel(0, y), nullptr);
      }
    });
  }

  void read_transparent_rows(RgbImage& image) {
    const size_t row_bytes = png_get_rowbytes(png_, info_);
    const int bit_depth = png_get_bit_depth(png_, info_);
    SACT_ASSERT(row_bytes == size_t(image.width) * 4 * size_t(bit_depth / 8));
    // Rows that are not interlaced need one row.
    const size_t stride = passes_ > 1 ? row_bytes : 0;
    std::vector<uint8_t> rgba(row_bytes + stride * size_t(image.height - 1));
    run([this, &image, &rgba, stride, bit_depth] {
      for (int pass = 0; pass < passes_; ++pass) {
        for (int y = 0; y < image.height; ++y) {
          uint8_t* row = rgba.data() + stride * size_t(y);
          png_read_row(png_, row, nullptr);
          if (pass + 1 == passes_) rgb_over_white(row, image.pixel(0, y), image.width, bit_depth);
        }
      }
    });
  }

  std::span<const std::byte> rest_;
  size_t size_;
  int orientation_;
  const std::string& name_;
  Escape escape_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int passes_ = 1;
  bool opaque_ = true;
};

}  // namespace

RgbImage decode_png(std::span<const std::byte> bytes, const std::string& name,
                    const ReadOptions& options) {
  return PngDecoder(bytes, name).decode(options);
}

ImageHeader png_header(std::span<const std::byte> bytes, const std::string& name,
                       const ReadOptions& options) {
  return PngDecoder(bytes, name).header(options);
}

}  // namespace sact::io
