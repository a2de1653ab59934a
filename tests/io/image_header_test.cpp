// What is read of an image without its pixels.
#include <gtest/gtest.h>

#include <fstream>
#include <span>

#include "base/error.h"
#include "io/image.h"
#include "support/errors.h"
#include "support/image_samples.h"
#include "support/temporary.h"

namespace sact::io {
namespace {

using namespace sact::test;

class ImageHeaders : public ::testing::Test {
 protected:
  void write(std::span<const std::byte> bytes) {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  }
  ImageHeader header_of(std::span<const std::byte> bytes) {
    write(bytes);
    return read_image_header(path_);
  }

  TemporaryDirectory directory_;
  std::filesystem::path path_ = directory_ / "image";
};

TEST_F(ImageHeaders, SizesAreThoseOfTheDecodedImage) {
  for (const ImageSample& sample : images_of_every_kind()) {
    const RgbImage image = decode_image(sample.bytes, sample.what);
    const ImageHeader header = header_of(sample.bytes);
    EXPECT_EQ(header.width, image.width) << sample.what;
    EXPECT_EQ(header.height, image.height) << sample.what;
  }
}

TEST_F(ImageHeaders, OrientationIsFoundWhereverItStands) {
  const Bytes png = encode_png(gradient_image(7, 4)), jpeg = make_jpeg(gradient_image(7, 4));
  const size_t end = png.size() - png_chunk("IEND", {}).size();
  for (int code = 1; code <= 8; ++code) {
    const Bytes chunk = png_chunk("eXIf", exif_tiff(code, true));
    for (const Bytes& bytes : {inserted(png, kPngHeaderSize, chunk), inserted(png, end, chunk),
                               jpeg_with_exif(jpeg, exif_tiff(code, false))}) {
      EXPECT_EQ(header_of(bytes).width, code >= 5 ? 4 : 7) << code;
      EXPECT_EQ(header_of(bytes).height, code >= 5 ? 7 : 4) << code;
    }
  }
}

TEST_F(ImageHeaders, KindsOfPngAreToldApart) {
  EXPECT_STREQ(header_of(make_jpeg(gradient_image(7, 4))).format, "JPEG");
  const ImageHeader plain = header_of(encode_png(gradient_image(7, 4)));
  EXPECT_STREQ(plain.format, "PNG");
  EXPECT_EQ(plain.bit_depth, 8);
  EXPECT_FALSE(plain.transparent);
  const PngKind deep{.width = 2, .height = 1, .bit_depth = 16, .color_type = PNG_COLOR_TYPE_GRAY};
  EXPECT_EQ(header_of(make_png(deep, Samples(4))).bit_depth, 16);
  EXPECT_FALSE(header_of(make_png(deep, Samples(4))).transparent);
  const PngKind alpha{.width = 2, .height = 1, .color_type = PNG_COLOR_TYPE_GRAY_ALPHA};
  EXPECT_TRUE(header_of(make_png(alpha, Samples(4))).transparent);
  PngKind palette{.width = 1, .height = 1, .color_type = PNG_COLOR_TYPE_PALETTE};
  palette.palette = {{1, 2, 3}};
  EXPECT_FALSE(header_of(make_png(palette, {0})).transparent);
  palette.palette_alpha = {90};
  EXPECT_TRUE(header_of(make_png(palette, {0})).transparent);
}

TEST_F(ImageHeaders, WhatEndsTooEarlyOrIsNoImageGetsOneLine) {
  for (const ImageSample& sample : images_of_every_kind()) {
    size_t refused = 0;
    for (size_t length = 0; length < sample.bytes.size(); length += 3) {
      try {
        header_of(std::span(sample.bytes).first(length));
      } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        ++refused;
      }
    }
    EXPECT_GT(refused, kPngHeaderSize / 3) << sample.what;
  }
  EXPECT_NE(error_of([&] { header_of(bytes_of("<html>")); }).find("web page"), std::string::npos);
  EXPECT_NE(error_of([&] { header_of(png_header(60000, 60000)); }).find("image"),
            std::string::npos);
}

}  // namespace
}  // namespace sact::io
