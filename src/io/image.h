// Photographs in memory, reading them in many formats, and writing them as JPEG and PNG.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"

namespace sact::io {

/// 8-bit RGB, rows from top to bottom without padding.
struct RgbImage {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> rgb;

  RgbImage() = default;
  RgbImage(int w, int h) : width(w), height(h), rgb(size_t(w) * size_t(h) * 3) {}
  uint8_t* pixel(int x, int y) { return rgb.data() + (size_t(y) * size_t(width) + size_t(x)) * 3; }
  const uint8_t* pixel(int x, int y) const {
    return rgb.data() + (size_t(y) * size_t(width) + size_t(x)) * 3;
  }
};

/// What read_image() reads, for messages.
inline constexpr const char* kReadableFormats = "JPEG, PNG, WebP, TIFF, GIF or BMP";
/// Larger files are not read.
inline constexpr uint64_t kMaxImageFileBytes = uint64_t(1) << 30;
/// No limit on pixels can be higher: their bytes must be counted in 32 bits by some libraries.
inline constexpr int64_t kMostPixels = 1'000'000'000;

struct ReadOptions {
  /// Images with more pixels than this are refused before memory is taken for them.
  int64_t max_pixels = 100'000'000;
  /// How the user can raise that limit, for the message: "--max-pixels". Nothing: it cannot be.
  std::string limit_name = {};
  /// When above 0, a JPEG may be decoded at a reduced scale (1/2, 1/4, 1/8) as long as its shorter
  /// side keeps at least this many pixels: the usual case in training, and several times faster.
  int min_side = 0;
};

/// Reads a JPEG, PNG, WebP, TIFF, GIF or BMP, told apart by their content and not by their name, as
/// a viewer would show it: grey, palette, CMYK/YCCK, 16-bit and transparent images become 8-bit RGB
/// (transparency over white), the orientation is applied. Of several pictures in a file the first
/// is read. Throws sact::Error for anything damaged or too large.
RgbImage read_image(const std::filesystem::path& path, const ReadOptions& options = {});

/// The same from memory; `name` is used in messages.
RgbImage decode_image(std::span<const std::byte> bytes, const std::string& name,
                      const ReadOptions& options = {});

/// Whether the bytes begin as those of a picture that read_image() reads.
bool begins_like_image(std::span<const std::byte> bytes);

/// What a file says of its picture before the pixels.
struct ImageHeader {
  int width = 0, height = 0;  // as read_image() would give them
  const char* format = "";    // "JPEG"
  int bit_depth = 8;          // of a colour
  bool transparent = false;   // with an alpha channel or a transparent colour
};

/// Reads no more than that: damage in the pixels is not noticed. Throws as read_image() does.
ImageHeader read_image_header(const std::filesystem::path& path, const ReadOptions& options = {});

/// The same from memory.
ImageHeader decode_image_header(std::span<const std::byte> bytes, const std::string& name,
                                const ReadOptions& options = {});

/// No side of an image that is read has more pixels.
inline constexpr uint64_t kMaxSide = 1'000'000;

/// Deflate makes no more of a byte (it reaches 1032): a short file cannot hold a huge image.
inline constexpr uint64_t kMaxInflateRatio = 1040;

/// Refuses an image without pixels or with more than `options` allow; for the decoders.
void check_pixel_count(uint64_t width, uint64_t height, const std::string& name,
                       const ReadOptions& options);

std::vector<std::byte> encode_png(const RgbImage& image);
/// `quality` is 1 to 100; colours keep their full resolution (4:4:4).
std::vector<std::byte> encode_jpeg(const RgbImage& image, int quality = 90);

/// Writes PNG or JPEG by the extension of `path` (.png, .jpg, .jpeg), whole or not at all.
void write_image(const std::filesystem::path& path, const RgbImage& image,
                 Durability durability = Durability::kSynced);

/// Whether the file name ends like an image that can be read (.jpg, .jpeg, .png, .webp, .tif,
/// .tiff, .gif, .bmp, any case).
bool has_image_extension(const std::filesystem::path& path);

/// All images in the directory and below it, sorted by path. Names that start with a dot are left
/// out; links to files count, links to directories are not followed. Whatever else there is comes
/// into `others`, a hidden directory as one.
std::vector<std::filesystem::path> list_images(
    const std::filesystem::path& directory, std::vector<std::filesystem::path>* others = nullptr);

}  // namespace sact::io
