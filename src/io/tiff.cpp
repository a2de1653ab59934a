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
#include "io/decoding_memory.h"
#include "io/exif.h"
#include "io/more_formats.h"

namespace sact::io {
namespace {

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

/// The first `size` bytes as a number in the byte order of the file.
uint64_t number_of(std::span<const std::byte> bytes, size_t size, bool big_endian) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    value |= uint64_t(bytes[i]) << 8 * (big_endian ? size - 1 - i : i);
  }
  return value;
}

/// The bytes of all values that the first directory lists. libtiff keeps those of thousands of tags
/// that it does not know, and all may be the same place in the file.
uint64_t bytes_of_tags(std::span<const std::byte> file) {
  constexpr size_t kTypeBytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
  if (file.size() < 16) return 0;
  const bool big_endian = file[0] == std::byte('M');
  const bool large = number_of(file.subspan(2), 2, big_endian) == 43;  // offsets of 64 bits
  const size_t word = large ? 8 : 4, count_bytes = large ? 8 : 2, entry_bytes = large ? 20 : 12;
  const uint64_t start = number_of(file.subspan(large ? 8 : 4), word, big_endian);
  if (start > file.size() - count_bytes) return 0;
  std::span<const std::byte> rest = file.subspan(start);
  const uint64_t entries = number_of(rest, count_bytes, big_endian);
  rest = rest.subspan(count_bytes);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < entries && rest.size() >= entry_bytes; ++i) {
    const uint64_t type = number_of(rest.subspan(2), 2, big_endian);
    const uint64_t count = number_of(rest.subspan(4), word, big_endian);
    // More than the file has libtiff does not read.
    if (type < std::size(kTypeBytes) && count <= file.size()) sum += count * kTypeBytes[type];
    rest = rest.subspan(entry_bytes);
  }
  return sum;
}

/// RGB from what the library gives, colours that are already multiplied by alpha. Both may lie at
/// the same place.
void rgb_from_raster(const uint8_t* raster, uint8_t* rgb, size_t pixels) {
  for (size_t i = 0; i < pixels; ++i, raster += sizeof(uint32_t), rgb += 3) {
    uint32_t pixel = 0;
    std::memcpy(&pixel, raster, sizeof pixel);
    const uint32_t white = 255 - TIFFGetA(pixel);
    rgb[0] = uint8_t(std::min<uint32_t>(255, TIFFGetR(pixel) + white));
    rgb[1] = uint8_t(std::min<uint32_t>(255, TIFFGetG(pixel) + white));
    rgb[2] = uint8_t(std::min<uint32_t>(255, TIFFGetB(pixel) + white));
  }
}

class TiffDecoder {
 public:
  TiffDecoder(std::span<const std::byte> bytes, const std::string& name, const ReadOptions& options)
      : source_{bytes}, name_(name) {
    // They follow each other in the file; few programs let two small ones share a place.
    constexpr uint64_t kShared = 1 << 16;
    if (bytes_of_tags(bytes) > bytes.size() + kShared) refuse("its tags are larger than the file");
    const std::unique_ptr<TIFFOpenOptions, FreeOptions> open(TIFFOpenOptionsAlloc());
    if (!open) throw std::bad_alloc();
    TIFFOpenOptionsSetMaxSingleMemAlloc(open.get(),
                                        tmsize_t(most_decoding_bytes(bytes.size(), options)));
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
    const size_t pixels = size_t(width) * size_t(height), raster_bytes = 4 * pixels;
    check_decoding_bytes(std::max(raster_bytes + buffer_bytes(),
                                  raster_bytes + (orientation() > 1 ? 3 * pixels : 0)),
                         source_.bytes.size(), name_, options);
    RgbImage image;  // first four bytes a pixel, as libtiff gives them
    image.rgb.resize(raster_bytes);
    RgbaReader rgba;
    char problem[1024] = "";
    rgba.begun = TIFFRGBAImageBegin(&rgba.reader, tiff_.get(), 1, problem) != 0;
    if (!rgba.begun) refuse(problem);
    // As the rows are stored; turning is done below, for all eight orientations.
    rgba.reader.orientation = rgba.reader.req_orientation = ORIENTATION_TOPLEFT;
    if (!TIFFRGBAImageGet(&rgba.reader, reinterpret_cast<uint32_t*>(image.rgb.data()),
                          uint32_t(width), uint32_t(height)) ||
        source_.problem[0]) {
      refuse();
    }
    image.width = width;
    image.height = height;
    rgb_from_raster(image.rgb.data(), image.rgb.data(), pixels);
    image.rgb.resize(3 * pixels);
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
    // Of YCbCr some positions may have no colour samples.
    const int least = number(TIFFTAG_PHOTOMETRIC) == PHOTOMETRIC_YCBCR ? 1 : samples;
    const uint64_t bits = uint64_t(width) * height * unsigned(bits_) * unsigned(least);
    const bool deflated =
        compression == COMPRESSION_DEFLATE || compression == COMPRESSION_ADOBE_DEFLATE;
    const uint64_t most_ratio = deflated ? kMaxInflateRatio : 1;
    if ((compression == COMPRESSION_NONE || deflated) &&
        bits / 8 / most_ratio > source_.bytes.size()) {
      refuse("the file ends too early");
    }
  }

  /// What libtiff unpacks at a time: strips or tiles, one for each colour where these lie apart.
  uint64_t buffer_bytes() const {
    const tmsize_t size =
        TIFFIsTiled(tiff_.get()) ? TIFFTileSize(tiff_.get()) : TIFFStripSize(tiff_.get());
    const bool apart = number(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE;
    const bool twice = number(TIFFTAG_COMPRESSION) == COMPRESSION_LERC;
    const uint64_t buffers =
        (apart ? std::min<uint64_t>(number(TIFFTAG_SAMPLESPERPIXEL), 4) : 1) + (twice ? 1 : 0);
    return uint64_t(std::max<tmsize_t>(size, 0)) * buffers;
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
