// TIFF in memory, by libtiff: the first page, of every kind that its RGBA interface knows.
#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "io/exif.h"
#include "io/more_formats.h"

namespace sact::io {
namespace {

constexpr tmsize_t kMostTagBytes = tmsize_t(64) << 20;  // for one block of memory, at least

/// The file in memory, and the first thing that was wrong with it.
struct Source {
  std::span<const std::byte> bytes;
  uint64_t place = 0;
  char problem[256] = "";
};

Source& source_of(thandle_t handle) {
  return *static_cast<Source*>(handle);
}

tmsize_t read_bytes(thandle_t handle, void* target, tmsize_t size) {
  Source& source = source_of(handle);
  if (size <= 0 || source.place >= source.bytes.size()) return 0;
  const uint64_t taken = std::min<uint64_t>(uint64_t(size), source.bytes.size() - source.place);
  std::memcpy(target, source.bytes.data() + source.place, taken);
  source.place += taken;
  return tmsize_t(taken);
}

tmsize_t write_nothing(thandle_t, void*, tmsize_t) {
  return 0;
}

toff_t seek(thandle_t handle, toff_t offset, int from) {
  Source& source = source_of(handle);
  source.place = offset + (from == SEEK_CUR   ? source.place
                           : from == SEEK_END ? source.bytes.size()
                                              : 0);
  return source.place;
}

int close_nothing(thandle_t) {
  return 0;
}

toff_t size_of(thandle_t handle) {
  return source_of(handle).bytes.size();
}

/// The bytes as they lie, which libtiff does not change. Without this version 4.5 refuses tiles
/// that are not compressed, because it compares their size with that of a buffer.
int map_bytes(thandle_t handle, void** base, toff_t* size) {
  const Source& source = source_of(handle);
  *base = const_cast<std::byte*>(source.bytes.data());
  *size = source.bytes.size();
  return 1;
}

void unmap_nothing(thandle_t, void*, toff_t) {}

/// Handlers of one file and not of the process: several threads decode at once, and programs that
/// use this as a library may have handlers of their own.
int keep_error(TIFF*, void* user, const char*, const char* format, va_list arguments) {
  Source& source = *static_cast<Source*>(user);
  if (!source.problem[0]) {
    std::vsnprintf(source.problem, sizeof source.problem, format, arguments);
  }
  return 1;
}

int ignore_warning(TIFF*, void*, const char*, const char*, va_list) {
  return 1;
}

struct CloseTiff {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};

struct FreeOptions {
  void operator()(TIFFOpenOptions* options) const { TIFFOpenOptionsFree(options); }
};

/// Ends what TIFFRGBAImageBegin() has begun.
struct RgbaReader {
  TIFFRGBAImage reader{};
  bool begun = false;
  ~RgbaReader() {
    if (begun) TIFFRGBAImageEnd(&reader);
  }
};

/// The library gives colours that are already multiplied by alpha.
void rgb_from_raster(const uint32_t* raster, uint8_t* rgb, int width) {
  for (int x = 0; x < width; ++x, rgb += 3) {
    const uint32_t white = 255 - TIFFGetA(raster[x]);
    rgb[0] = uint8_t(std::min<uint32_t>(255, TIFFGetR(raster[x]) + white));
    rgb[1] = uint8_t(std::min<uint32_t>(255, TIFFGetG(raster[x]) + white));
    rgb[2] = uint8_t(std::min<uint32_t>(255, TIFFGetB(raster[x]) + white));
  }
}

class TiffDecoder {
 public:
  TiffDecoder(std::span<const std::byte> bytes, const std::string& name, const ReadOptions& options)
      : source_{bytes}, name_(name) {
    const std::unique_ptr<TIFFOpenOptions, FreeOptions> open(TIFFOpenOptionsAlloc());
    if (!open) throw std::bad_alloc();
    const tmsize_t most = tmsize_t(std::min(options.max_pixels, kMostPixels)) * 8;
    TIFFOpenOptionsSetMaxSingleMemAlloc(open.get(), std::max(most, kMostTagBytes));
    TIFFOpenOptionsSetErrorHandlerExtR(open.get(), keep_error, &source_);
    TIFFOpenOptionsSetWarningHandlerExtR(open.get(), ignore_warning, nullptr);
    tiff_.reset(TIFFClientOpenExt("tiff", "r", &source_, read_bytes, write_nothing, seek,
                                  close_nothing, size_of, map_bytes, unmap_nothing, open.get()));
    if (!tiff_) refuse();
  }

  ImageHeader header(const ReadOptions& options) {
    uint32_t width = 0, height = 0;
    TIFFGetField(tiff_.get(), TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(tiff_.get(), TIFFTAG_IMAGELENGTH, &height);
    check_pixel_count(width, height, name_, options);
    check_kind(width, height);
    ImageHeader header{int(width), int(height), "TIFF", bits_, has_alpha()};
    stored_ = {header.width, header.height};
    if (swaps_axes(orientation())) std::swap(header.width, header.height);
    return header;
  }

  RgbImage decode(const ReadOptions& options) {
    header(options);
    const auto [width, height] = stored_;
    expect_memory(7 * uint64_t(width) * uint64_t(height),  // what libtiff gives, and the image
                  fmt::format("{}: an image of {} x {} pixels", name_, width, height));
    std::vector<uint32_t> raster(size_t(width) * size_t(height));
    RgbaReader rgba;
    char problem[1024] = "";
    rgba.begun = TIFFRGBAImageBegin(&rgba.reader, tiff_.get(), 1, problem) != 0;
    if (!rgba.begun) refuse(problem);
    // As the rows are stored; turning is done below, for all eight orientations.
    rgba.reader.orientation = rgba.reader.req_orientation = ORIENTATION_TOPLEFT;
    if (!TIFFRGBAImageGet(&rgba.reader, raster.data(), uint32_t(width), uint32_t(height)) ||
        source_.problem[0]) {
      refuse();
    }
    RgbImage image(width, height);
    for (int y = 0; y < height; ++y) {
      rgb_from_raster(raster.data() + size_t(y) * size_t(width), image.pixel(0, y), width);
    }
    return apply_orientation(std::move(image), orientation());
  }

 private:
  [[noreturn]] void refuse(const char* problem = "") const {
    if (source_.problem[0]) problem = source_.problem;
    fail("{}: cannot be decoded as TIFF: {}; the file is damaged or of a kind not supported here",
         name_, problem[0] ? printable(problem) : "it cannot be read");
  }

  uint16_t number(uint32_t tag) const {
    uint16_t value = 0;
    TIFFGetFieldDefaulted(tiff_.get(), tag, &value);
    return value;
  }

  void check_kind(uint32_t width, uint32_t height) {
    const int compression = number(TIFFTAG_COMPRESSION);
    const int samples = number(TIFFTAG_SAMPLESPERPIXEL);
    bits_ = number(TIFFTAG_BITSPERSAMPLE);
    if (compression == COMPRESSION_OJPEG) refuse("it uses the JPEG of TIFF 6.0, long replaced");
    if (samples < 1 || samples > 64) refuse("it has an absurd number of colours");
    char problem[1024] = "";
    if (!TIFFRGBAImageOK(tiff_.get(), problem)) refuse(problem);
    // Without compression the pixels must be there, before memory is taken for them.
    const uint64_t bits = uint64_t(width) * height * unsigned(bits_);
    const bool deflated =
        compression == COMPRESSION_DEFLATE || compression == COMPRESSION_ADOBE_DEFLATE;
    const uint64_t most_ratio = deflated ? kMaxInflateRatio : 1;
    if ((compression == COMPRESSION_NONE || deflated) &&
        bits / 8 / most_ratio > source_.bytes.size()) {
      refuse("the file ends too early");
    }
  }

  bool has_alpha() const {
    uint16_t count = 0;
    uint16_t* kinds = nullptr;
    TIFFGetFieldDefaulted(tiff_.get(), TIFFTAG_EXTRASAMPLES, &count, &kinds);
    return count > 0 && kinds && kinds[0] != EXTRASAMPLE_UNSPECIFIED;
  }

  int orientation() const {
    const int code = number(TIFFTAG_ORIENTATION);
    return code >= 1 && code <= 8 ? code : 1;
  }

  Source source_;
  const std::string& name_;
  std::unique_ptr<TIFF, CloseTiff> tiff_;
  std::pair<int, int> stored_;
  int bits_ = 8;
};

}  // namespace

RgbImage decode_tiff(std::span<const std::byte> bytes, const std::string& name,
                     const ReadOptions& options) {
  return TiffDecoder(bytes, name, options).decode(options);
}

ImageHeader tiff_header(std::span<const std::byte> bytes, const std::string& name,
                        const ReadOptions& options) {
  return TiffDecoder(bytes, name, options).header(options);
}

}  // namespace sact::io
