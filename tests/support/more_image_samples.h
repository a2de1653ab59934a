// WebP, TIFF, GIF and BMP as bytes for the tests, made with their libraries' encoders or by hand.
#pragma once

#include <gif_lib.h>
#include <tiffio.h>
#include <webp/encode.h>
#include <webp/mux_types.h>

#include <algorithm>

#include "support/image_samples.h"

namespace sact::test {

inline Bytes little_endian(uint32_t value, int size = 4) {
  Bytes bytes = big_endian(value, size);
  std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

/// RGBA samples, packed without loss.
inline Bytes make_webp(int width, int height, const Samples& rgba) {
  uint8_t* packed = nullptr;
  const size_t size = WebPEncodeLosslessRGBA(rgba.data(), width, height, width * 4, &packed);
  const auto* first = reinterpret_cast<const std::byte*>(packed);
  Bytes bytes(first, first + size);
  WebPFree(packed);
  return bytes;
}

inline Samples opaque_rgba(const io::RgbImage& image) {
  Samples rgba;
  for (size_t i = 0; i < image.rgb.size(); i += 3) {
    rgba.insert(rgba.end(), {image.rgb[i], image.rgb[i + 1], image.rgb[i + 2], 255});
  }
  return rgba;
}

inline Bytes lossy_webp(const io::RgbImage& image) {
  uint8_t* packed = nullptr;
  const size_t size =
      WebPEncodeRGB(image.rgb.data(), image.width, image.height, image.width * 3, 95, &packed);
  const auto* first = reinterpret_cast<const std::byte*>(packed);
  Bytes bytes(first, first + size);
  WebPFree(packed);
  return bytes;
}

inline Bytes riff_chunk(const char* type, const Bytes& content) {
  return joined({bytes_of(type), little_endian(uint32_t(content.size())), content,
                 Bytes(content.size() % 2)});
}

/// The chunks of a simple WebP file inside an extended one.
inline Bytes extended_webp(int width, int height, uint32_t flags, const Bytes& chunks) {
  const Bytes canvas = joined({little_endian(flags), little_endian(uint32_t(width - 1), 3),
                               little_endian(uint32_t(height - 1), 3)});
  return riff_chunk("RIFF", joined({bytes_of("WEBP"), riff_chunk("VP8X", canvas), chunks}));
}

inline Bytes chunks_of_webp(const Bytes& webp) {
  return Bytes(webp.begin() + 12, webp.end());
}

inline Bytes webp_with_exif(const Bytes& webp, int width, int height, const Bytes& tiff) {
  return extended_webp(width, height, EXIF_FLAG,
                       joined({chunks_of_webp(webp), riff_chunk("EXIF", tiff)}));
}

/// An animation of one frame at (x, y), which must be even.
inline Bytes animated_webp(int width, int height, int x, int y, const io::RgbImage& frame) {
  const Bytes header = joined({little_endian(uint32_t(x / 2), 3), little_endian(uint32_t(y / 2), 3),
                               little_endian(uint32_t(frame.width - 1), 3),
                               little_endian(uint32_t(frame.height - 1), 3), Bytes(4)});
  const Bytes picture = chunks_of_webp(make_webp(frame.width, frame.height, opaque_rgba(frame)));
  return extended_webp(
      width, height, ANIMATION_FLAG,
      joined({riff_chunk("ANIM", Bytes(6)), riff_chunk("ANMF", joined({header, picture}))}));
}

struct TiffKind {
  int width = 0, height = 0;
  int bits = 8, samples = 3, photometric = PHOTOMETRIC_RGB;
  int compression = COMPRESSION_NONE, orientation = ORIENTATION_TOPLEFT;
  int alpha = -1;  // EXTRASAMPLE_...
  bool big_endian = false, tiled = false;
  int rows_per_strip = 4;
  std::vector<uint16_t> palette = {};  // red, green, blue of all colours
};

namespace tiff_memory {

struct Target {
  Bytes bytes;
  size_t place = 0;
};

inline tmsize_t write(thandle_t handle, void* source, tmsize_t size) {
  auto& target = *static_cast<Target*>(handle);
  target.bytes.resize(std::max(target.bytes.size(), target.place + size_t(size)));
  std::memcpy(target.bytes.data() + target.place, source, size_t(size));
  target.place += size_t(size);
  return size;
}

inline tmsize_t read(thandle_t handle, void* out, tmsize_t size) {
  auto& target = *static_cast<Target*>(handle);
  const size_t taken = std::min(size_t(size), target.bytes.size() - target.place);
  std::memcpy(out, target.bytes.data() + target.place, taken);
  target.place += taken;
  return tmsize_t(taken);
}

inline toff_t seek(thandle_t handle, toff_t offset, int from) {
  auto& target = *static_cast<Target*>(handle);
  target.place = size_t(offset) + (from == SEEK_CUR   ? target.place
                                   : from == SEEK_END ? target.bytes.size()
                                                      : 0);
  return target.place;
}

inline int close(thandle_t) {
  return 0;
}

inline toff_t size(thandle_t handle) {
  return static_cast<Target*>(handle)->bytes.size();
}

}  // namespace tiff_memory

/// `rows` are packed as TIFF stores them, 16-bit samples in the machine's order.
inline Bytes make_tiff(const TiffKind& kind, Samples rows) {
  tiff_memory::Target target;
  TIFF* tiff = TIFFClientOpen("memory", kind.big_endian ? "wb" : "wl", &target, tiff_memory::read,
                              tiff_memory::write, tiff_memory::seek, tiff_memory::close,
                              tiff_memory::size, nullptr, nullptr);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, uint32_t(kind.width));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, uint32_t(kind.height));
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, kind.bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, kind.samples);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, kind.photometric);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, kind.compression);
  TIFFSetField(tiff, TIFFTAG_ORIENTATION, kind.orientation);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  if (kind.alpha >= 0) {
    const uint16_t alpha = uint16_t(kind.alpha);
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha);
  }
  if (!kind.palette.empty()) {
    const size_t colors = kind.palette.size() / 3;
    TIFFSetField(tiff, TIFFTAG_COLORMAP, kind.palette.data(), kind.palette.data() + colors,
                 kind.palette.data() + 2 * colors);
  }
  if (kind.tiled) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 16);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, 16);
    Samples tile(size_t(TIFFTileSize(tiff)));
    std::copy_n(rows.begin(), std::min(rows.size(), tile.size()), tile.begin());
    TIFFWriteTile(tiff, tile.data(), 0, 0, 0, 0);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, uint32_t(kind.rows_per_strip));
    const size_t row_bytes = size_t(TIFFScanlineSize(tiff));
    for (int y = 0; y < kind.height; ++y) {
      TIFFWriteScanline(tiff, rows.data() + row_bytes * size_t(y), uint32_t(y), 0);
    }
  }
  TIFFClose(tiff);
  return target.bytes;
}

struct GifKind {
  int width = 0, height = 0;  // of the canvas
  int left = 0, top = 0, frame_width = 0, frame_height = 0;
  bool interlaced = false;
  int transparent = NO_TRANSPARENT_COLOR;
  std::vector<GifColorType> palette = {};  // a power of two
};

inline int append_to_bytes(GifFileType* gif, const GifByteType* source, int size) {
  auto* bytes = static_cast<Bytes*>(gif->UserData);
  const auto* first = reinterpret_cast<const std::byte*>(source);
  bytes->insert(bytes->end(), first, first + size);
  return size;
}

/// `pixels` are indices of the frame, row by row from the top.
inline Bytes make_gif(const GifKind& kind, const Samples& pixels) {
  Bytes bytes;
  int error = 0;
  GifFileType* gif = EGifOpen(&bytes, append_to_bytes, &error);
  ColorMapObject* colors = GifMakeMapObject(int(kind.palette.size()), kind.palette.data());
  EGifSetGifVersion(gif, true);
  EGifPutScreenDesc(gif, kind.width, kind.height, 8, 0, colors);
  if (kind.transparent != NO_TRANSPARENT_COLOR) {
    const GraphicsControlBlock control{0, false, 0, kind.transparent};
    GifByteType block[4];
    EGifGCBToExtension(&control, block);
    EGifPutExtension(gif, GRAPHICS_EXT_FUNC_CODE, 4, block);
  }
  EGifPutImageDesc(gif, kind.left, kind.top, kind.frame_width, kind.frame_height, kind.interlaced,
                   nullptr);
  std::vector<int> order;
  constexpr int kFirst[] = {0, 4, 2, 1}, kStep[] = {8, 8, 4, 2};
  for (int pass = 0; pass < 4; ++pass) {
    for (int y = kFirst[pass]; y < kind.frame_height; y += kStep[pass]) order.push_back(y);
  }
  if (!kind.interlaced) std::sort(order.begin(), order.end());
  for (const int y : order) {
    Samples line(pixels.begin() + y * kind.frame_width,
                 pixels.begin() + (y + 1) * kind.frame_width);
    EGifPutLine(gif, line.data(), kind.frame_width);
  }
  GifFreeMapObject(colors);
  EGifCloseFile(gif, &error);
  return bytes;
}

struct BmpKind {
  int width = 0, height = 0;  // a negative height: rows from the top
  int bits = 24;
  uint32_t compression = 0;
  Bytes palette = {};                 // blue, green, red, 0
  std::vector<uint32_t> fields = {};  // masks after the header
};

/// `rows` are as they are stored: from the bottom, filled up to four bytes.
inline Bytes make_bmp(const BmpKind& kind, const Samples& rows) {
  Bytes fields;
  for (const uint32_t mask : kind.fields) fields = joined({fields, little_endian(mask)});
  const Bytes header = joined(
      {little_endian(40), little_endian(uint32_t(kind.width)), little_endian(uint32_t(kind.height)),
       little_endian(1, 2), little_endian(uint32_t(kind.bits), 2), little_endian(kind.compression),
       little_endian(0), little_endian(2835), little_endian(2835),
       little_endian(uint32_t(kind.palette.size() / 4)), little_endian(0)});
  Bytes pixels(rows.size());
  if (!rows.empty()) std::memcpy(pixels.data(), rows.data(), rows.size());
  const Bytes front = joined({header, fields, kind.palette});
  const uint32_t start = uint32_t(14 + front.size());
  return joined({bytes_of("BM"), little_endian(start + uint32_t(pixels.size())), little_endian(0),
                 little_endian(start), front, pixels});
}

/// One small image of every kind that takes a way of its own through these decoders.
inline std::vector<ImageSample> more_images_of_every_kind() {
  const io::RgbImage image = noise_image(19, 13, 3);
  Samples half = opaque_rgba(image);
  for (size_t i = 3; i < half.size(); i += 4) half[i] = uint8_t(i * 7);
  const TiffKind rgb{.width = 19, .height = 13};
  TiffKind alpha = rgb, packed = rgb, tiled = rgb, deep = rgb, motorola = rgb;
  alpha.samples = 4, alpha.alpha = EXTRASAMPLE_UNASSALPHA;
  packed.compression = COMPRESSION_LZW;
  tiled.tiled = true, tiled.width = 16, tiled.compression = COMPRESSION_ADOBE_DEFLATE;
  deep.bits = 16, deep.samples = 1, deep.photometric = PHOTOMETRIC_MINISBLACK;
  motorola.big_endian = true, motorola.orientation = ORIENTATION_RIGHTTOP;
  const GifKind gif{.width = 19,
                    .height = 13,
                    .frame_width = 19,
                    .frame_height = 13,
                    .palette = {{1, 2, 3}, {200, 100, 50}, {9, 9, 9}, {0, 255, 0}}};
  GifKind interlaced = gif;
  interlaced.interlaced = true, interlaced.transparent = 2;
  Samples indices(size_t(19) * 13);
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = image.rgb[i] % 4;
  const Samples bmp_rows(image.rgb.begin(), image.rgb.begin() + 12 * 13);
  return {{"WebP", make_webp(19, 13, opaque_rgba(image))},
          {"lossy WebP", lossy_webp(image)},
          {"WebP with alpha", make_webp(19, 13, half)},
          {"WebP with EXIF", webp_with_exif(lossy_webp(image), 19, 13, exif_tiff(6, false))},
          {"animated WebP", animated_webp(24, 20, 2, 4, image)},
          {"TIFF", make_tiff(rgb, image.rgb)},
          {"TIFF with alpha", make_tiff(alpha, half)},
          {"TIFF with LZW", make_tiff(packed, image.rgb)},
          {"tiled TIFF", make_tiff(tiled, Samples(16 * 16 * 3, 77))},
          {"16-bit TIFF", make_tiff(deep, image.rgb)},
          {"big-endian TIFF", make_tiff(motorola, image.rgb)},
          {"GIF", make_gif(gif, indices)},
          {"interlaced GIF", make_gif(interlaced, indices)},
          {"BMP", make_bmp({.width = 4, .height = 13}, bmp_rows)},
          {"16-bit BMP", make_bmp({.width = 6, .height = 13, .bits = 16}, bmp_rows)},
          {"32-bit BMP", make_bmp({.width = 3, .height = -13, .bits = 32}, bmp_rows)},
          {"palette BMP",
           make_bmp({.width = 24, .height = 13, .bits = 4, .palette = Bytes(64, std::byte{9})},
                    bmp_rows)}};
}

}  // namespace sact::test
