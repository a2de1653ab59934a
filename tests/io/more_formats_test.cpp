// WebP, TIFF, GIF and BMP are read as a viewer would show them, and damage is refused.
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "io/image.h"
#include "support/errors.h"
#include "support/more_image_samples.h"

namespace sact::io {
namespace {

using namespace sact::test;

RgbImage decoded(const Bytes& bytes, const ReadOptions& options = {}) {
  return decode_image(bytes, "sample", options);
}

std::string refusal_of(const Bytes& bytes, const ReadOptions& options = {}) {
  const std::string message = error_of([&] { decode_image(bytes, "broken.img", options); });
  EXPECT_NE(message.find("broken.img: "), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message;
}

void expect_refusal(const Bytes& bytes, const std::string& part, const ReadOptions& options = {}) {
  const std::string message = refusal_of(bytes, options);
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Webp, LosslessIsExactAndLossyIsClose) {
  const RgbImage image = noise_image(19, 13, 1);
  EXPECT_EQ(decoded(make_webp(19, 13, opaque_rgba(image))).rgb, image.rgb);
  const RgbImage smooth = gradient_image(40, 30), back = decoded(lossy_webp(smooth));
  ASSERT_EQ(back.rgb.size(), smooth.rgb.size());
  for (size_t i = 0; i < back.rgb.size(); ++i) EXPECT_NEAR(back.rgb[i], smooth.rgb[i], 16);
}

TEST(Webp, AlphaLiesOverWhite) {
  // 100 at 51/255: 255 - 155 / 5 = 224.
  EXPECT_EQ(decoded(make_webp(2, 1, {100, 100, 100, 51, 9, 8, 7, 255})).rgb,
            (Samples{224, 224, 224, 9, 8, 7}));
  EXPECT_TRUE(decode_image_header(make_webp(1, 1, {1, 2, 3, 51}), "alpha").transparent);
}

TEST(Webp, OrientationIsApplied) {
  const RgbImage image = noise_image(5, 3, 2);
  const Bytes webp = make_webp(5, 3, opaque_rgba(image));
  const RgbImage turned = decoded(webp_with_exif(webp, 5, 3, exif_tiff(6, true)));
  ASSERT_EQ(turned.width, 3);
  ASSERT_EQ(turned.height, 5);
  // Code 6: the stored left bottom corner is the left top one.
  EXPECT_TRUE(std::equal(turned.pixel(0, 0), turned.pixel(0, 0) + 3, image.pixel(0, 2)));
  const Bytes as_in_jpeg = joined({bytes_of({"Exif\0\0", 6}), exif_tiff(6, false)});
  EXPECT_EQ(decoded(webp_with_exif(webp, 5, 3, as_in_jpeg)).rgb, turned.rgb);
}

TEST(Webp, OfAnAnimationTheFirstFrameStandsOnItsCanvas) {
  const RgbImage frame = noise_image(3, 2, 2);
  const RgbImage image = decoded(animated_webp(8, 6, 2, 4, frame));
  ASSERT_EQ(image.width, 8);
  ASSERT_EQ(image.height, 6);
  EXPECT_EQ(image.pixel(0, 0)[0], 255);
  for (int y = 0; y < 2; ++y) {
    EXPECT_TRUE(std::equal(frame.pixel(0, y), frame.pixel(0, y) + 9, image.pixel(2, 4 + y)));
  }
  refusal_of(animated_webp(4, 6, 2, 4, frame));
}

TEST(Tiff, CompressionsTilesAndByteOrdersGiveTheSamePicture) {
  const RgbImage image = noise_image(19, 13, 1);
  for (const int compression :
       {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS}) {
    for (const bool big : {false, true}) {
      const TiffKind kind{.width = 19, .height = 13, .compression = compression, .big_endian = big};
      EXPECT_EQ(decoded(make_tiff(kind, image.rgb)).rgb, image.rgb) << compression << big;
    }
  }
  const RgbImage square = noise_image(16, 16, 1);
  EXPECT_EQ(decoded(make_tiff({.width = 16, .height = 16, .tiled = true}, square.rgb)).rgb,
            square.rgb);
}

TEST(Tiff, AllOrientationsAreApplied) {
  const RgbImage image = noise_image(3, 2, 4);
  // The stored place of the shown left top corner.
  const std::pair<int, int> corners[] = {{0, 0}, {2, 0}, {2, 1}, {0, 1},
                                         {0, 0}, {0, 1}, {2, 1}, {2, 0}};
  for (int code = 1; code <= 8; ++code) {
    const TiffKind kind{.width = 3, .height = 2, .orientation = code};
    const RgbImage shown = decoded(make_tiff(kind, image.rgb));
    EXPECT_EQ(shown.width, code >= 5 ? 2 : 3) << code;
    const auto [x, y] = corners[code - 1];
    EXPECT_TRUE(std::equal(shown.pixel(0, 0), shown.pixel(0, 0) + 3, image.pixel(x, y))) << code;
  }
}

TEST(Tiff, EveryKindOfPixelBecomesRgb) {
  EXPECT_EQ(decoded(make_tiff({.width = 2, .height = 1, .samples = 4, .alpha = 2},
                              {100, 100, 100, 51, 9, 8, 7, 255}))
                .rgb,
            (Samples{224, 224, 224, 9, 8, 7}));
  const int grey = PHOTOMETRIC_MINISBLACK;
  EXPECT_EQ(
      decoded(make_tiff({.width = 2, .height = 1, .samples = 1, .photometric = grey}, {7, 250}))
          .rgb,
      (Samples{7, 7, 7, 250, 250, 250}));
  EXPECT_EQ(
      decoded(make_tiff({.width = 8, .height = 1, .bits = 1, .samples = 1, .photometric = grey},
                        {0b10000001}))
          .rgb[0],
      255);
  const Samples deep = {0x00, 0xff, 0x00, 0x80};  // little-endian 0xff00 and 0x8000
  const RgbImage sixteen = decoded(
      make_tiff({.width = 2, .height = 1, .bits = 16, .samples = 1, .photometric = grey}, deep));
  EXPECT_NEAR(sixteen.rgb[0], 254, 1);
  EXPECT_NEAR(sixteen.rgb[3], 128, 1);
  const RgbImage inks = decoded(
      make_tiff({.width = 1, .height = 1, .samples = 4, .photometric = PHOTOMETRIC_SEPARATED},
                {255, 0, 0, 0}));
  EXPECT_EQ(inks.rgb, (Samples{0, 255, 255})) << "cyan takes red away";
  TiffKind palette{.width = 2, .height = 1, .samples = 1, .photometric = PHOTOMETRIC_PALETTE};
  palette.palette.resize(3 * 256);
  palette.palette[5] = 0xffff, palette.palette[256 + 6] = 0x8080;
  EXPECT_EQ(decoded(make_tiff(palette, {5, 6})).rgb, (Samples{255, 0, 0, 0, 128, 0}));
}

TEST(Gif, ColoursTransparencyAndInterlacingAreRead) {
  GifKind kind{.width = 4,
               .height = 9,
               .frame_width = 4,
               .frame_height = 9,
               .palette = {{1, 2, 3}, {200, 100, 50}, {9, 9, 9}, {0, 255, 0}}};
  Samples indices(36);
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = uint8_t((i * 7 + i / 4) % 4);
  const RgbImage plain = decoded(make_gif(kind, indices));
  for (size_t i = 0; i < indices.size(); ++i) {
    EXPECT_EQ(plain.rgb[3 * i], kind.palette[indices[i]].Red) << i;
    EXPECT_EQ(plain.rgb[3 * i + 2], kind.palette[indices[i]].Blue) << i;
  }
  kind.interlaced = true;
  EXPECT_EQ(decoded(make_gif(kind, indices)).rgb, plain.rgb);
  kind.transparent = indices[0];
  EXPECT_EQ(decoded(make_gif(kind, indices)).rgb[0], 255);
}

TEST(Gif, TheFrameStandsOnItsCanvasWhichGrowsWhereItMust) {
  GifKind kind{.width = 5,
               .height = 4,
               .left = 2,
               .top = 1,
               .frame_width = 2,
               .frame_height = 2,
               .palette = {{0, 0, 0}, {200, 100, 50}}};
  const RgbImage image = decoded(make_gif(kind, {1, 1, 1, 0}));
  EXPECT_EQ(image.width, 5);
  EXPECT_EQ(image.pixel(0, 0)[0], 255);
  EXPECT_EQ(image.pixel(2, 1)[0], 200);
  EXPECT_EQ(image.pixel(3, 2)[0], 0);
  kind.width = 1, kind.height = 1;
  EXPECT_EQ(decoded(make_gif(kind, {1, 1, 1, 0})).width, 4);
}

TEST(Bmp, BitDepthsGiveTheirColours) {
  // Rows from the bottom, each filled up to four bytes.
  EXPECT_EQ(decoded(make_bmp({.width = 1, .height = 2}, {3, 2, 1, 0, 6, 5, 4, 0})).rgb,
            (Samples{4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(decoded(make_bmp({.width = 1, .height = -2}, {3, 2, 1, 0, 6, 5, 4, 0})).rgb,
            (Samples{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(decoded(make_bmp({.width = 1, .height = 1, .bits = 32}, {3, 2, 1, 99})).rgb,
            (Samples{1, 2, 3}))
      << "without masks there is no alpha";
  EXPECT_EQ(decoded(make_bmp({.width = 2, .height = 1, .bits = 16}, {0x00, 0x7c, 0x1f, 0x00})).rgb,
            (Samples{255, 0, 0, 0, 0, 255}));
  EXPECT_EQ(decoded(make_bmp({.width = 2,
                              .height = 1,
                              .bits = 16,
                              .compression = 3,
                              .fields = {0xf800, 0x07e0, 0x001f}},
                             {0x00, 0xf8, 0xe0, 0x07}))
                .rgb,
            (Samples{255, 0, 0, 0, 255, 0}));
  EXPECT_EQ(decoded(make_bmp({.width = 2,
                              .height = 1,
                              .bits = 32,
                              .compression = 6,
                              .fields = {0xff, 0xff00, 0xff0000, 0xff000000}},
                             {100, 100, 100, 51, 9, 8, 7, 255}))
                .rgb,
            (Samples{224, 224, 224, 9, 8, 7}));
  const Bytes two = {std::byte{3}, std::byte{2}, std::byte{1}, std::byte{0},
                     std::byte{6}, std::byte{5}, std::byte{4}, std::byte{0}};
  EXPECT_EQ(
      decoded(make_bmp({.width = 3, .height = 1, .bits = 1, .palette = two}, {0b01000000, 0, 0, 0}))
          .rgb,
      (Samples{1, 2, 3, 4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(
      decoded(make_bmp({.width = 2, .height = 1, .bits = 4, .palette = two}, {0x10, 0, 0, 0})).rgb,
      (Samples{4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(
      decoded(make_bmp({.width = 2, .height = 1, .bits = 8, .palette = two}, {1, 0, 0, 0})).rgb,
      (Samples{4, 5, 6, 1, 2, 3}));
}

TEST(Bmp, WhatIsNotReadIsSaidPlainly) {
  const Bytes two(8);
  expect_refusal(make_bmp({.width = 2, .height = 1, .bits = 8, .compression = 1, .palette = two},
                          {1, 0, 0, 0}),
                 "run-length");
  expect_refusal(make_bmp({.width = 2, .height = 1, .bits = 8, .palette = two}, {2, 0, 0, 0}),
                 "not in the palette");
  expect_refusal(make_bmp({.width = 2, .height = 1, .bits = 7}, {1, 0, 0, 0}), "7 bits");
  expect_refusal(make_bmp({.width = 2, .height = 2}, {1, 0, 0, 0}), "ends too early");
  expect_refusal(make_bmp({.width = 30000, .height = 30000}, {}), "30000 x 30000 pixels");
  expect_refusal(make_bmp({.width = -2, .height = 2}, {1, 0, 0, 0}), "negative");
  refusal_of(make_bmp({.width = 2, .height = INT32_MIN}, {1, 0, 0, 0}));
}

TEST(MoreFormats, HeadersSayWhatThePictureWillBe) {
  for (const ImageSample& sample : more_images_of_every_kind()) {
    const RgbImage image = decode_image(sample.bytes, sample.what);
    const ImageHeader header = decode_image_header(sample.bytes, sample.what);
    EXPECT_EQ(header.width, image.width) << sample.what;
    EXPECT_EQ(header.height, image.height) << sample.what;
    EXPECT_NE(std::string(sample.what).find(header.format), std::string::npos) << header.format;
  }
}

TEST(MoreFormats, LimitsComeBeforeMemoryAndSayHowTheyAreRaised) {
  for (const ImageSample& sample : more_images_of_every_kind()) {
    const ReadOptions few{.max_pixels = 30, .limit_name = "--max-pixels"};
    expect_refusal(sample.bytes, "make it smaller first, or raise --max-pixels", few);
    EXPECT_THROW(decode_image_header(sample.bytes, "few", few), Error) << sample.what;
  }
}

TEST(MoreFormats, EveryTruncationIsRefusedOrLosesNothing) {
  for (const ImageSample& sample : more_images_of_every_kind()) {
    const RgbImage whole = decode_image(sample.bytes, sample.what);
    for (size_t size = 0; size < sample.bytes.size(); ++size) {
      try {
        const Bytes cut(sample.bytes.begin(), sample.bytes.begin() + ptrdiff_t(size));
        EXPECT_EQ(decode_image(cut, "cut").rgb, whole.rgb) << sample.what << " cut to " << size;
        EXPECT_GE(size + 4, sample.bytes.size()) << sample.what << ": only its end may be missing";
      } catch (const Error&) {
        // as it should be
      }
    }
  }
}

TEST(MoreFormats, RandomBytesNeverDoWorseThanAWrongPicture) {
  constexpr uint64_t kSeed = 20170722;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  constexpr int64_t kPixels = 1 << 18;
  Random random(kSeed);
  int refused = 0;
  for (const ImageSample& sample : more_images_of_every_kind()) {
    for (int i = 0; i < 400; ++i) {
      Bytes bytes = sample.bytes;
      for (int64_t flips = 1 + random.below(4); flips > 0; --flips) {
        bytes[size_t(random.below(int64_t(bytes.size())))] = std::byte(random.below(256));
      }
      try {
        const RgbImage image = decode_image(bytes, "damaged", {.max_pixels = kPixels});
        EXPECT_GT(image.width, 0);
        EXPECT_LE(int64_t(image.width) * image.height, kPixels);
        EXPECT_EQ(image.rgb.size(), size_t(image.width) * size_t(image.height) * 3);
      } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(MoreFormats, ThreadsDecodeAtOnceAndKeepTheirOwnErrors) {
  const auto samples = more_images_of_every_kind();
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        for (const ImageSample& sample : samples) {
          const Bytes half(sample.bytes.begin(),
                           sample.bytes.begin() + ptrdiff_t(sample.bytes.size() / 2));
          try {
            decode_image(t % 2 ? half : sample.bytes, "thread " + std::to_string(t));
            wrong[t] += t % 2 == 1;
          } catch (const Error& error) {
            const std::string own = "thread " + std::to_string(t) + ": ";
            wrong[t] += t % 2 == 0 || !std::string(error.what()).starts_with(own);
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, (std::vector<int>(4)));
}

}  // namespace
}  // namespace sact::io
