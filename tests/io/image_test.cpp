// Images: what the decoders make of every kind of file, and what the encoders give back.
#include "io/image.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/file.h"
#include "support/errors.h"
#include "support/image_samples.h"
#include "support/temporary.h"

namespace sact::io {
namespace {

using namespace sact::test;
namespace fs = std::filesystem;

int largest_difference(const RgbImage& a, const RgbImage& b) {
  if (a.width != b.width || a.height != b.height) return 256;
  int largest = 0;
  for (size_t i = 0; i < a.rgb.size(); ++i) {
    largest = std::max(largest, std::abs(int(a.rgb[i]) - int(b.rgb[i])));
  }
  return largest;
}

RgbImage decoded(const Bytes& bytes, const ReadOptions& options = {}) {
  return decode_image(bytes, "sample", options);
}

/// Two columns and three rows of squares, A B / C D / E F, each letter its own colour.
RgbImage letter_image(int square) {
  RgbImage image(2 * square, 3 * square);
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const int letter = 2 * (y / square) + x / square;
      std::fill_n(image.pixel(x, y), 3, uint8_t(25 + 40 * letter));
    }
  }
  return image;
}

/// The letters of such an image as one reads them, rows divided by '/'.
std::string letters_of(const RgbImage& image, int square) {
  std::string text;
  for (int y = square / 2; y < image.height; y += square) {
    if (!text.empty()) text += '/';
    for (int x = square / 2; x < image.width; x += square) {
      text += char('A' + (image.pixel(x, y)[0] - 5) / 40);
    }
  }
  return text;
}

constexpr const char* kShownLetters[] = {"",        "AB/CD/EF", "BA/DC/FE", "FE/DC/BA", "EF/CD/AB",
                                         "ACE/BDF", "ECA/FDB",  "FDB/ECA",  "BDF/ACE"};

TEST(Png, RoundTripIsExact) {
  const RgbImage image = noise_image(37, 23, 1);
  const RgbImage back = decoded(encode_png(image));
  EXPECT_EQ(back.width, 37);
  EXPECT_EQ(back.height, 23);
  EXPECT_EQ(back.rgb, image.rgb);
}

TEST(Png, PicturesOfEverySizeAndKindComeBackThroughLibpng) {
  Random random(7);
  for (const int width : {1, 2, 3, 5, 16, 33, 257, 1021}) {
    for (const int height : {1, 2, 7, 64, 301}) {
      const int levels = 1 + int(random.below(256)), period = 1 + int(random.below(9));
      RgbImage image(width, height);
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {  // noise, flat, blocks and slopes side by side
          uint8_t* pixel = image.pixel(x, y);
          for (int c = 0; c < 3; ++c) {
            pixel[c] = x % 4 == 0   ? uint8_t(random.below(uint64_t(levels)))
                       : x % 4 == 1 ? 255
                       : x % 4 == 2 ? uint8_t((x / period + y / period) * 37 + c)
                                    : uint8_t(x + 2 * y);
          }
        }
      }
      const RgbImage back = decoded(encode_png(image));
      EXPECT_EQ(back.width, width);
      EXPECT_EQ(back.height, height);
      EXPECT_EQ(back.rgb, image.rgb) << width << " x " << height;
    }
  }
}

TEST(Png, PicturesMuchLargerThanTheFirstGuessOfTheirFileComeBack) {
  const RgbImage noise = noise_image(1500, 900, 5);  // cannot be compressed at all
  EXPECT_EQ(decoded(encode_png(noise)).rgb, noise.rgb);
  const RgbImage flat(4000, 3000);
  const Bytes png = encode_png(flat);
  EXPECT_LT(png.size(), 200'000u);
  EXPECT_EQ(decoded(png).rgb, flat.rgb);
}

TEST(Png, SixteenBitIsScaledNotTruncated) {
  const Samples row = {0x00, 0x80, 0x00, 0x81, 0xfe, 0x00, 0xff, 0xff, 0x00, 0x00, 0x80, 0x00};
  const RgbImage image =
      decoded(make_png({.width = 2, .height = 1, .bit_depth = 16, .color_type = 2}, row));
  EXPECT_EQ(image.rgb, (Samples{0, 1, 253, 255, 0, 128}));
}

TEST(Png, SmallGreyDepthsSpreadOverTheWholeRange) {
  const PngKind one{.width = 3, .height = 1, .bit_depth = 1, .color_type = PNG_COLOR_TYPE_GRAY};
  EXPECT_EQ(decoded(make_png(one, {0b10100000})).rgb,
            (Samples{255, 255, 255, 0, 0, 0, 255, 255, 255}));
  const PngKind two{.width = 2, .height = 1, .bit_depth = 2, .color_type = PNG_COLOR_TYPE_GRAY};
  EXPECT_EQ(decoded(make_png(two, {0b01100000})).rgb, (Samples{85, 85, 85, 170, 170, 170}));
  const PngKind four{.width = 2, .height = 1, .bit_depth = 4, .color_type = PNG_COLOR_TYPE_GRAY};
  EXPECT_EQ(decoded(make_png(four, {0x1e})).rgb, (Samples{17, 17, 17, 238, 238, 238}));
  const PngKind eight{.width = 1, .height = 2, .color_type = PNG_COLOR_TYPE_GRAY};
  EXPECT_EQ(decoded(make_png(eight, {7, 250})).rgb, (Samples{7, 7, 7, 250, 250, 250}));
  const PngKind sixteen{
      .width = 1, .height = 1, .bit_depth = 16, .color_type = PNG_COLOR_TYPE_GRAY};
  EXPECT_EQ(decoded(make_png(sixteen, {0xfe, 0x00})).rgb, (Samples{253, 253, 253}));
}

TEST(Png, PaletteTransparencyLiesOverWhite) {
  PngKind kind{.width = 3, .height = 1, .color_type = PNG_COLOR_TYPE_PALETTE};
  kind.palette = {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}};
  EXPECT_EQ(decoded(make_png(kind, {2, 0, 1})).rgb, (Samples{0, 0, 255, 255, 0, 0, 0, 255, 0}));
  kind.palette_alpha = {0, 128};
  EXPECT_EQ(decoded(make_png(kind, {0, 1, 2})).rgb,
            (Samples{255, 255, 255, 127, 255, 127, 0, 0, 255}));
}

TEST(Png, GreyWithAlphaLiesOverWhite) {
  const PngKind kind{.width = 3, .height = 1, .color_type = PNG_COLOR_TYPE_GRAY_ALPHA};
  // 100 at 51/255: 255 - 155 / 5 = 224.
  EXPECT_EQ(decoded(make_png(kind, {100, 51, 9, 0, 9, 255})).rgb,
            (Samples{224, 224, 224, 255, 255, 255, 9, 9, 9}));
}

TEST(Png, SixteenBitAlphaIsRoundedOnce) {
  const PngKind kind{
      .width = 1, .height = 1, .bit_depth = 16, .color_type = PNG_COLOR_TYPE_GRAY_ALPHA};
  // 0x0155 at 0xd467 over white is 44.53; sample and alpha rounded to 8 bits first give 44.
  EXPECT_EQ(decoded(make_png(kind, {0x01, 0x55, 0xd4, 0x67})).rgb[0], 45);
}

TEST(Png, TheTransparentColourOfAnRgbImageIsWhite) {
  const png_color_16 key{.index = 0, .red = 10, .green = 20, .blue = 30, .gray = 0};
  const PngKind kind{.width = 2, .height = 1, .transparent = &key};
  EXPECT_EQ(decoded(make_png(kind, {10, 20, 30, 10, 20, 31})).rgb,
            (Samples{255, 255, 255, 10, 20, 31}));
}

TEST(Png, InterlacedIsTheSamePicture) {
  const int channels_of[] = {3, 4};
  for (const int channels : channels_of) {
    Random random(5);
    Samples rows(size_t(19) * 11 * 2 * size_t(channels));
    for (uint8_t& value : rows) value = uint8_t(random.below(256));
    PngKind kind{.width = 19, .height = 11, .bit_depth = 16};
    kind.color_type = channels == 4 ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB;
    const RgbImage plain = decoded(make_png(kind, rows));
    kind.interlaced = true;
    EXPECT_EQ(decoded(make_png(kind, rows)).rgb, plain.rgb) << channels << " channels";
  }
}

TEST(Png, OrientationIsAppliedWhereverTheChunkStands) {
  const Bytes png = encode_png(letter_image(1));
  const size_t end = png.size() - png_chunk("IEND", {}).size();
  for (int code = 1; code <= 8; ++code) {
    for (const size_t position : {kPngHeaderSize, end}) {
      const Bytes chunk = png_chunk("eXIf", exif_tiff(code, code % 2 == 0));
      EXPECT_EQ(letters_of(decoded(inserted(png, position, chunk)), 1), kShownLetters[code]);
    }
  }
}

TEST(Jpeg, OrientationIsAppliedInBothByteOrders) {
  const Bytes jpeg = make_jpeg(letter_image(8));
  for (int code = 1; code <= 8; ++code) {
    for (const bool is_big_endian : {false, true}) {
      const RgbImage image = decoded(jpeg_with_exif(jpeg, exif_tiff(code, is_big_endian)));
      EXPECT_EQ(letters_of(image, 8), kShownLetters[code]) << code << ' ' << is_big_endian;
    }
  }
  for (const int code : {0, 9, 65535}) {
    EXPECT_EQ(letters_of(decoded(jpeg_with_exif(jpeg, exif_tiff(code, true))), 8), "AB/CD/EF");
  }
}

TEST(Jpeg, RoundTripIsClose) {
  const RgbImage image = gradient_image(61, 47);
  EXPECT_LE(largest_difference(decoded(encode_jpeg(image, 95)), image), 6);
  EXPECT_GT(encode_jpeg(image, 95).size(), encode_jpeg(image, 30).size());
}

TEST(Jpeg, EveryLayoutOfTheSamePictureDecodesAlike) {
  const RgbImage image = gradient_image(61, 47);
  const RgbImage baseline = decoded(make_jpeg(image));
  EXPECT_LE(largest_difference(baseline, image), 4);
  EXPECT_EQ(decoded(make_jpeg(image, {.progressive = true})).rgb, baseline.rgb);
  EXPECT_EQ(decoded(make_jpeg(image, {.restart_interval = 3})).rgb, baseline.rgb);
  EXPECT_EQ(decoded(make_jpeg(image, jpeg_kind_in_three_scans())).rgb, baseline.rgb);
  const JpegKind rgb{.stored_as = JCS_RGB, .adobe_marker = true};
  EXPECT_LE(largest_difference(decoded(make_jpeg(image, rgb)), image), 2);
}

TEST(Jpeg, GreyBecomesRgb) {
  const JpegKind kind{
      .width = 8, .height = 8, .samples_are = JCS_GRAYSCALE, .stored_as = JCS_GRAYSCALE};
  const RgbImage image = decoded(make_jpeg(kind, Samples(64, 77)));
  EXPECT_EQ(image.rgb, Samples(64 * 3, 77));
}

TEST(Jpeg, InksAreInvertedOnlyWithTheAdobeMarker) {
  Samples inks;
  for (int i = 0; i < 64; ++i) inks.insert(inks.end(), {200, 100, 50, 30});
  JpegKind kind{.width = 8, .height = 8, .samples_are = JCS_CMYK, .stored_as = JCS_CMYK};
  const RgbImage plain = decoded(make_jpeg(kind, inks));  // 255 is all ink
  EXPECT_NEAR(plain.rgb[0], 55 * 225 / 255.0, 2);
  EXPECT_NEAR(plain.rgb[1], 155 * 225 / 255.0, 2);
  EXPECT_NEAR(plain.rgb[2], 205 * 225 / 255.0, 2);
  kind.adobe_marker = true;
  for (const J_COLOR_SPACE stored : {JCS_CMYK, JCS_YCCK}) {
    kind.stored_as = stored;
    const RgbImage inverted = decoded(make_jpeg(kind, inks));  // 255 is no ink
    EXPECT_NEAR(inverted.rgb[0], 200 * 30 / 255.0, 2) << "stored as " << stored;
    EXPECT_NEAR(inverted.rgb[1], 100 * 30 / 255.0, 2) << "stored as " << stored;
    EXPECT_NEAR(inverted.rgb[2], 50 * 30 / 255.0, 2) << "stored as " << stored;
  }
}

TEST(Jpeg, ReducedScaleKeepsTheShorterSide) {
  struct Case {
    int min_side, width, height;
  };
  const RgbImage image = gradient_image(100, 70);
  const Bytes jpeg = make_jpeg(image);
  for (const Case& c : {Case{0, 100, 70}, Case{-1, 100, 70}, Case{71, 100, 70}, Case{36, 100, 70},
                        Case{35, 50, 35}, Case{18, 25, 18}, Case{9, 13, 9}, Case{1, 13, 9}}) {
    const RgbImage small = decoded(jpeg, {.min_side = c.min_side});
    EXPECT_EQ(small.width, c.width) << "min_side " << c.min_side;
    EXPECT_EQ(small.height, c.height) << "min_side " << c.min_side;
  }
  const RgbImage turned = decoded(jpeg_with_exif(jpeg, exif_tiff(6, true)), {.min_side = 35});
  EXPECT_EQ(turned.width, 35);
  EXPECT_EQ(turned.height, 50);
  const RgbImage half = decoded(jpeg, {.min_side = 35});
  for (int c = 0; c < 3; ++c) EXPECT_NEAR(half.pixel(25, 17)[c], image.pixel(50, 34)[c], 6);
}

TEST(Jpeg, HarmlessOdditiesOfRealPhotographsAreReadThrough) {
  const RgbImage image = gradient_image(24, 16);
  const Bytes jpeg = make_jpeg(image);
  const RgbImage expected = decoded(jpeg);
  EXPECT_EQ(decoded(inserted(jpeg, jpeg.size() - 2, Bytes(5))).rgb, expected.rgb) << "extraneous";
  EXPECT_EQ(decoded(inserted(jpeg, jpeg.size(), bytes_of("appended"))).rgb, expected.rgb);

  Bytes future_version = jpeg;
  future_version[position_of(jpeg, "JFIF") + 5] = std::byte{9};
  EXPECT_EQ(decoded(future_version).rgb, expected.rgb);

  Bytes strange_transform = make_jpeg(image, {.adobe_marker = true});
  strange_transform[position_of(strange_transform, "Adobe") + 11] = std::byte{77};
  EXPECT_EQ(decoded(strange_transform).rgb, expected.rgb);
}

TEST(RgbImage, HugeHeadersAreRefusedBeforeMemoryIsTaken) {
  const Bytes png = joined({png_header(60000, 60000), png_chunk("IDAT", Bytes(20))});
  EXPECT_NE(error_of([&] { decoded(png); }).find("60000 x 60000"), std::string::npos);

  Bytes jpeg = make_jpeg(gradient_image(8, 8));
  const Bytes sides = big_endian(60000u << 16 | 60000u);
  std::copy(sides.begin(), sides.end(),
            jpeg.begin() + ptrdiff_t(position_of(jpeg, "\xff\xc0") + 5));
  EXPECT_NE(error_of([&] { decoded(jpeg); }).find("60000 x 60000"), std::string::npos);
}

TEST(RgbImage, ThePixelLimitItselfIsAllowed) {
  const RgbImage image = gradient_image(10, 9);
  for (const Bytes& bytes : {encode_png(image), encode_jpeg(image)}) {
    EXPECT_EQ(decoded(bytes, {.max_pixels = 90}).width, 10);
    const std::string message = error_of([&] { decoded(bytes, {.max_pixels = 89}); });
    EXPECT_NE(message.find("sample: has 10 x 9 pixels"), std::string::npos) << message;
  }
}

TEST(RgbImage, FilesGoByTheirContentAndNotByTheirName) {
  const TemporaryDirectory directory;
  const RgbImage image = noise_image(5, 4, 2);
  const fs::path path = directory / "really-a-png.jpg";
  write_file_atomically(path, encode_png(image));
  EXPECT_EQ(read_image(path).rgb, image.rgb);
}

TEST(RgbImage, IsWrittenInTheFormatOfItsExtension) {
  const TemporaryDirectory directory;
  const RgbImage image = gradient_image(20, 10);
  write_image(directory / "a.PNG", image);
  EXPECT_EQ(read_image(directory / "a.PNG").rgb, image.rgb);
  for (const char* name : {"a.jpg", "a.Jpeg"}) {
    write_image(directory / name, image);
    EXPECT_EQ(read_file(directory / name, 1 << 20)[0], std::byte{0xff});
    EXPECT_LE(largest_difference(read_image(directory / name), image), 10);
  }
  const std::string message = error_of([&] { write_image(directory / "a.gif", image); });
  EXPECT_NE(message.find(".png, .jpg or .jpeg"), std::string::npos) << message;
  EXPECT_FALSE(fs::exists(directory / "a.gif"));
}

TEST(RgbImage, EncodersRefuseWhatTheFormatCannotHold) {
  const TemporaryDirectory directory;
  const std::string message =
      error_of([&] { write_image(directory / "w.jpg", RgbImage(65501, 1)); });
  EXPECT_NE(message.find("w.jpg"), std::string::npos) << message;
  EXPECT_NE(message.find("PNG"), std::string::npos) << message;
  EXPECT_NE(error_of([] { encode_jpeg(RgbImage(1, 1), 0); }).find("1 to 100"), std::string::npos);
  EXPECT_NE(error_of([] { encode_jpeg(RgbImage(1, 1), 101); }).find("1 to 100"), std::string::npos);
}

TEST(ListImages, IsRecursiveSortedAndEnds) {
  const TemporaryDirectory directory;
  for (const char* name : {"a", ".hidden", "d.png"}) fs::create_directory(directory / name);
  for (const char* name : {"b.png", "a/c.JPG", "a-b.jpeg", ".hidden/x.png", ".h.png", "notes.txt",
                           "d.png/e.jpg", "png"}) {
    write_file_atomically(directory / name, std::string_view("x"));
  }
  fs::create_directory_symlink(directory.path(), directory / "a" / "loop");
  fs::create_directory_symlink(directory / "a", directory / "again.png");
  fs::create_symlink("b.png", directory / "link.png");
  std::string names;
  for (const fs::path& path : list_images(directory.path())) {
    names += path.lexically_relative(directory.path()).generic_string() + ' ';
  }
  EXPECT_EQ(names, "a-b.jpeg a/c.JPG b.png d.png/e.jpg link.png ");
}

TEST(ListImages, SaysWhatCannotBeListed) {
  const TemporaryDirectory directory;
  EXPECT_NE(error_of([&] { list_images(directory / "none"); }).find("none"), std::string::npos);
  write_file_atomically(directory / "file.png", std::string_view("x"));
  EXPECT_NE(error_of([&] { list_images(directory / "file.png"); }).find("file.png"),
            std::string::npos);
}

TEST(ListImages, AnUnreadableDirectoryIsAnError) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read every directory";
  const TemporaryDirectory directory;
  fs::create_directory(directory / "locked");
  fs::permissions(directory / "locked", fs::perms::none);
  const std::string message = error_of([&] { list_images(directory.path()); });
  fs::permissions(directory / "locked", fs::perms::owner_all);
  EXPECT_NE(message.find("locked"), std::string::npos) << message;
}

}  // namespace
}  // namespace sact::io
