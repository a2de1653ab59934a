// Short files that would take much memory to decode: refused before it is taken.
#include <gtest/gtest.h>

#include "io/image.h"
#include "support/errors.h"
#include "support/image_samples.h"
#include "support/more_image_samples.h"

namespace sact::io {
namespace {

using namespace sact::test;

constexpr int kSide = 3200;
constexpr size_t kPixels = size_t(kSide) * kSide;
/// As many pixels as the pictures here have, so that these alone are no reason.
constexpr ReadOptions kEnough{.max_pixels = kSide * kSide};

void expect_refused_for_memory(const Bytes& bytes, const char* what) {
  ASSERT_LT(bytes.size(), 500'000u) << what;
  const std::string message = error_of([&] { decode_image(bytes, "bomb.img", kEnough); });
  EXPECT_NE(message.find("bomb.img: would take"), std::string::npos) << what << ": " << message;
}

Bytes flat_tiff(TiffKind kind) {
  kind.width = kind.height = kSide;
  return make_tiff(kind, Samples(kPixels * size_t(kind.samples) * size_t(kind.bits) / 8));
}

TEST(ImageMemory, ScansOfAJpegAreKeptUntilTheLast) {
  RgbImage flat(kSide, kSide);
  expect_refused_for_memory(make_jpeg(flat, {.progressive = true}), "progressive");
  expect_refused_for_memory(make_jpeg(flat, jpeg_kind_in_three_scans()), "a scan for each colour");
  EXPECT_EQ(decode_image(make_jpeg(flat), "one scan", kEnough).rgb.size(), 3 * kPixels);
}

TEST(ImageMemory, InterlacedTransparentRowsAreAllKept) {
  const Samples rows(kPixels * 8);
  PngKind kind{.width = kSide, .height = kSide, .bit_depth = 16, .color_type = PNG_COLOR_TYPE_RGBA};
  EXPECT_EQ(decode_image(make_png(kind, rows), "row by row", kEnough).rgb.size(), 3 * kPixels);
  kind.interlaced = true;
  expect_refused_for_memory(make_png(kind, rows), "interlaced");
}

TEST(ImageMemory, LosslessWebpIsUnpackedWhole) {
  Samples half(kPixels * 4);  // transparent black
  expect_refused_for_memory(make_webp(kSide, kSide, half), "transparent");
}

TEST(ImageMemory, StripsAndTilesOfATiffAreUnpackedWhole) {
  TiffKind kind{.bits = 16, .samples = 4, .compression = COMPRESSION_LZW, .alpha = 2};
  EXPECT_EQ(decode_image(flat_tiff(kind), "short strips", kEnough).rgb.size(), 3 * kPixels);
  kind.rows_per_strip = kSide;
  expect_refused_for_memory(flat_tiff(kind), "one strip");
}

TEST(ImageMemory, AWholeImageFitsWhateverItsFormat) {
  constexpr int kSide = 1000;
  constexpr size_t kPixels = size_t(kSide) * kSide;
  const ReadOptions kEnough{.max_pixels = kSide * kSide};
  const RgbImage image = noise_image(kSide, kSide, 1);
  const TiffKind tiff{.width = kSide, .height = kSide};
  for (const Bytes& bytes :
       {make_jpeg(image, {.progressive = true}), encode_png(image), make_tiff(tiff, image.rgb),
        make_webp(kSide, kSide, opaque_rgba(image)),
        jpeg_with_exif(make_jpeg(image), exif_tiff(6, true))}) {
    EXPECT_EQ(decode_image(bytes, "noise", kEnough).rgb.size(), 3 * kPixels);
  }
}

/// libtiff would keep a copy for each of them.
TEST(ImageMemory, TagsOfATiffCannotAllBeTheSameBytes) {
  constexpr uint32_t kTags = 1000, kData = 100'000, kByte = 1, kFirstUnknown = 60'000;
  const TiffKind kind{.width = 4, .height = 4};
  const Bytes plain = make_tiff(kind, Samples(48, 9));
  EXPECT_EQ(decode_image(plain, "plain").rgb, Samples(48, 9));
  const uint32_t directory = uint32_t(plain[4]) | uint32_t(plain[5]) << 8;
  const uint32_t entries = uint32_t(plain[directory]) | uint32_t(plain[directory + 1]) << 8;
  Bytes known(plain.begin() + directory + 2, plain.begin() + directory + 2 + 12 * entries);
  Bytes bytes = plain;
  const uint32_t place = uint32_t(bytes.size());
  bytes.resize(place + kData);
  for (uint32_t tag = 0; tag < kTags; ++tag) {
    known = joined({known, little_endian(kFirstUnknown + tag, 2), little_endian(kByte, 2),
                    little_endian(kData), little_endian(place)});
  }
  const Bytes start = little_endian(uint32_t(bytes.size()));
  std::copy(start.begin(), start.end(), bytes.begin() + 4);
  bytes = joined({bytes, little_endian(entries + kTags, 2), known, little_endian(0)});
  const std::string message = error_of([&] { decode_image(bytes, "tags.tif"); });
  EXPECT_NE(message.find("its tags are larger than the file"), std::string::npos) << message;
}

}  // namespace
}  // namespace sact::io
