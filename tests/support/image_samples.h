// Images as bytes for the tests: JPEG and PNG of every kind, made with libjpeg and libpng directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <jpeglib.h>  // uses size_t and FILE without including them

#include <png.h>

#include "base/random.h"
#include "io/image.h"

namespace sact::test {

using Bytes = std::vector<std::byte>;
using Samples = std::vector<uint8_t>;

inline Bytes bytes_of(std::string_view text) {
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

inline Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

inline Bytes big_endian(uint32_t value, int size = 4) {
  Bytes bytes;
  for (int i = size - 1; i >= 0; --i) bytes.push_back(std::byte(value >> (8 * i)));
  return bytes;
}

/// Smooth enough for JPEG, different in all corners and in all channels.
inline io::RgbImage gradient_image(int width, int height) {
  io::RgbImage image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      uint8_t* p = image.pixel(x, y);
      p[0] = uint8_t(20 + 200 * x / width);
      p[1] = uint8_t(30 + 180 * y / height);
      p[2] = uint8_t(240 - 100 * x / width - 100 * y / height);
    }
  }
  return image;
}

inline io::RgbImage noise_image(int width, int height, uint64_t seed) {
  io::RgbImage image(width, height);
  Random random(seed);
  for (uint8_t& value : image.rgb) value = uint8_t(random.below(256));
  return image;
}

struct JpegKind {
  int width = 0, height = 0;
  J_COLOR_SPACE samples_are = JCS_RGB;
  J_COLOR_SPACE stored_as = JCS_YCbCr;
  bool progressive = false;
  bool adobe_marker = false;
  int restart_interval = 0;
  std::vector<jpeg_scan_info> scans = {};
};

/// Samples of 1 (grey), 3 or 4 (CMYK) components, interleaved, at the best quality.
inline Bytes make_jpeg(const JpegKind& kind, const Samples& samples) {
  jpeg_compress_struct codec;
  jpeg_error_mgr errors;
  codec.err = jpeg_std_error(&errors);
  jpeg_create_compress(&codec);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&codec, &buffer, &size);
  codec.image_width = JDIMENSION(kind.width);
  codec.image_height = JDIMENSION(kind.height);
  codec.in_color_space = kind.samples_are;
  codec.input_components = int(samples.size() / (size_t(kind.width) * size_t(kind.height)));
  jpeg_set_defaults(&codec);
  jpeg_set_colorspace(&codec, kind.stored_as);
  jpeg_set_quality(&codec, 100, TRUE);
  for (int c = 0; c < codec.num_components; ++c) {
    codec.comp_info[c].h_samp_factor = codec.comp_info[c].v_samp_factor = 1;
  }
  if (kind.progressive) jpeg_simple_progression(&codec);
  if (!kind.scans.empty()) {
    codec.scan_info = kind.scans.data();
    codec.num_scans = int(kind.scans.size());
  }
  codec.write_Adobe_marker = kind.adobe_marker;
  codec.restart_interval = unsigned(kind.restart_interval);
  jpeg_start_compress(&codec, TRUE);
  const size_t stride = size_t(kind.width) * size_t(codec.input_components);
  while (codec.next_scanline < codec.image_height) {
    JSAMPROW row = const_cast<JSAMPROW>(samples.data() + codec.next_scanline * stride);
    jpeg_write_scanlines(&codec, &row, 1);
  }
  jpeg_finish_compress(&codec);
  jpeg_destroy_compress(&codec);
  const auto* first = reinterpret_cast<const std::byte*>(buffer);
  Bytes bytes(first, first + size);
  std::free(buffer);
  return bytes;
}

/// One scan for each of the three colours, so that one can be missing.
inline JpegKind jpeg_kind_in_three_scans() {
  return {.scans = {{1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}}};
}

inline Bytes make_jpeg(const io::RgbImage& image, JpegKind kind = {}) {
  kind.width = image.width;
  kind.height = image.height;
  return make_jpeg(kind, image.rgb);
}

struct PngKind {
  int width = 0, height = 0;
  int bit_depth = 8;
  int color_type = PNG_COLOR_TYPE_RGB;
  bool interlaced = false;
  std::vector<png_color> palette = {};
  std::vector<uint8_t> palette_alpha = {};
  const png_color_16* transparent = nullptr;
};

/// `rows` are packed as the PNG stores them: bits of a row from the left, 16 bits big-endian.
inline Bytes make_png(const PngKind& kind, Samples rows) {
  Bytes bytes;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  auto append = [](png_structp writer, png_bytep data, size_t size) {
    auto* out = static_cast<Bytes*>(png_get_io_ptr(writer));
    const auto* first = reinterpret_cast<const std::byte*>(data);
    out->insert(out->end(), first, first + size);
  };
  png_set_write_fn(png, &bytes, append, nullptr);
  png_set_IHDR(png, info, png_uint_32(kind.width), png_uint_32(kind.height), kind.bit_depth,
               kind.color_type, kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (!kind.palette.empty()) png_set_PLTE(png, info, kind.palette.data(), int(kind.palette.size()));
  if (!kind.palette_alpha.empty() || kind.transparent) {
    png_set_tRNS(png, info, kind.palette_alpha.data(), int(kind.palette_alpha.size()),
                 kind.transparent);
  }
  std::vector<png_bytep> row_pointers;
  const size_t stride = rows.size() / size_t(kind.height);
  for (int y = 0; y < kind.height; ++y) row_pointers.push_back(rows.data() + size_t(y) * stride);
  png_set_rows(png, info, row_pointers.data());
  png_write_png(png, info, PNG_TRANSFORM_IDENTITY, nullptr);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

/// A PNG chunk with its length and CRC.
inline Bytes png_chunk(std::string_view type, const Bytes& data) {
  const Bytes checked = joined({bytes_of(type), data});
  uint32_t crc = 0xffffffff;
  for (const std::byte byte : checked) {
    crc ^= uint32_t(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return joined({big_endian(uint32_t(data.size())), checked, big_endian(~crc)});
}

inline Bytes png_header(uint32_t width, uint32_t height) {
  const Bytes kind = bytes_of({"\x08\x02\0\0\0", 5});  // 8 bits, RGB, not interlaced
  return joined({bytes_of("\x89PNG\r\n\x1a\n"),
                 png_chunk("IHDR", joined({big_endian(width), big_endian(height), kind}))});
}

constexpr size_t kPngHeaderSize = 33;  // magic and IHDR

inline Bytes inserted(Bytes bytes, size_t position, const Bytes& part) {
  bytes.insert(bytes.begin() + ptrdiff_t(position), part.begin(), part.end());
  return bytes;
}

/// Where the text first stands; the test ends when it does not.
inline size_t position_of(const Bytes& bytes, std::string_view text) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const size_t position = all.find(text);
  if (position == std::string_view::npos) std::abort();
  return position;
}

/// A TIFF structure with two entries, the second of them the orientation.
inline Bytes exif_tiff(int orientation, bool is_big_endian) {
  auto number = [is_big_endian](uint32_t value, int size) {
    const Bytes big = big_endian(value, size);
    return is_big_endian ? big : Bytes(big.rbegin(), big.rend());
  };
  return joined({bytes_of(is_big_endian ? "MM" : "II"), number(42, 2), number(8, 4), number(2, 2),
                 number(0x0100, 2), number(4, 2), number(1, 4), number(640, 4),  // a width
                 number(0x0112, 2), number(3, 2), number(1, 4), number(uint32_t(orientation), 2),
                 number(0, 2),  // left-justified in four bytes
                 number(0, 4)});
}

inline Bytes jpeg_with_exif(const Bytes& jpeg, const Bytes& tiff) {
  const Bytes body = joined({bytes_of({"Exif\0\0", 6}), tiff});
  return inserted(jpeg, 2,
                  joined({bytes_of("\xff\xe1"), big_endian(uint32_t(body.size() + 2), 2), body}));
}

struct ImageSample {
  const char* what;
  Bytes bytes;
};

/// One small image of every kind that takes a way of its own through the decoders.
inline std::vector<ImageSample> images_of_every_kind() {
  const io::RgbImage image = noise_image(19, 13, 3);
  Random random(4);
  const auto noise = [&random](size_t size) {
    Samples samples(size);
    for (uint8_t& value : samples) value = uint8_t(random.below(256));
    return samples;
  };
  PngKind deep{.width = 9, .height = 7, .bit_depth = 16, .color_type = PNG_COLOR_TYPE_RGB_ALPHA};
  PngKind interlaced = deep;
  interlaced.interlaced = true;
  PngKind palette{.width = 8, .height = 8, .bit_depth = 1, .color_type = PNG_COLOR_TYPE_PALETTE};
  palette.palette = {{1, 2, 3}, {200, 100, 50}};
  palette.palette_alpha = {90};
  JpegKind cmyk{.width = 9, .height = 7, .samples_are = JCS_CMYK, .stored_as = JCS_YCCK};
  cmyk.adobe_marker = true;
  return {{"baseline JPEG", make_jpeg(image)},
          {"JPEG with restarts", make_jpeg(image, {.restart_interval = 2})},
          {"progressive JPEG", make_jpeg(image, {.progressive = true})},
          {"JPEG in three scans", make_jpeg(image, jpeg_kind_in_three_scans())},
          {"JPEG with EXIF", jpeg_with_exif(make_jpeg(image), exif_tiff(6, true))},
          {"CMYK JPEG", make_jpeg(cmyk, noise(size_t(9) * 7 * 4))},
          {"PNG", io::encode_png(image)},
          {"16-bit PNG with alpha", make_png(deep, noise(size_t(9) * 7 * 8))},
          {"interlaced PNG", make_png(interlaced, noise(size_t(9) * 7 * 8))},
          {"palette PNG", make_png(palette, {1, 2, 4, 8, 16, 32, 64, 128})}};
}

}  // namespace sact::test
