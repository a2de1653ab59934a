// Damaged image files: each is refused in one line that names it, or read as the whole picture.
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "base/file.h"
#include "io/image.h"
#include "support/errors.h"
#include "support/image_samples.h"
#include "support/temporary.h"

namespace sact::io {
namespace {

using namespace sact::test;
namespace fs = std::filesystem;

constexpr ReadOptions kSmall{.max_pixels = 1 << 18};

void check_message(const std::string& message, const std::string& name) {
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_NE(message.find(name), std::string::npos) << message;
}

/// Nothing when the bytes are refused, as they should be, in one line with the name.
std::optional<RgbImage> image_unless_refused(std::span<const std::byte> bytes) {
  try {
    return decode_image(bytes, "broken.img", kSmall);
  } catch (const Error& error) {
    check_message(error.what(), "broken.img");
    return std::nullopt;
  }
}

std::string refusal_of(const Bytes& bytes) {
  const std::string message = error_of([&] { decode_image(bytes, "broken.img", kSmall); });
  check_message(message, "broken.img");
  return message;
}

void expect_refusal(const Bytes& bytes, const std::string& part) {
  const std::string message = refusal_of(bytes);
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

Bytes with_frame_size(Bytes jpeg, uint32_t width, uint32_t height) {
  const size_t frame = position_of(jpeg, "\xff\xc0");
  const Bytes sides = joined({big_endian(height, 2), big_endian(width, 2)});
  std::copy(sides.begin(), sides.end(), jpeg.begin() + ptrdiff_t(frame + 5));
  return jpeg;
}

/// The JPEG without its segments of one kind, up to the first scan.
Bytes without_segments(const Bytes& jpeg, std::byte marker) {
  Bytes kept(jpeg.begin(), jpeg.begin() + 2);
  size_t at = 2;
  while (jpeg[at + 1] != std::byte{0xda}) {
    const size_t size = 2 + (size_t(jpeg[at + 2]) << 8 | size_t(jpeg[at + 3]));
    if (jpeg[at + 1] != marker) {
      kept.insert(kept.end(), jpeg.begin() + ptrdiff_t(at), jpeg.begin() + ptrdiff_t(at + size));
    }
    at += size;
  }
  kept.insert(kept.end(), jpeg.begin() + ptrdiff_t(at), jpeg.end());
  return kept;
}

/// Where the last scan starts: its SOS marker.
size_t last_scan_of(const Bytes& jpeg) {
  size_t at = jpeg.size() - 2;
  while (jpeg[at] != std::byte{0xff} || jpeg[at + 1] != std::byte{0xda}) --at;
  return at;
}

Bytes repeated(const Bytes& part, int times) {
  Bytes all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// A JPEG whose last scan, which adds nothing to a flat picture, comes `times` more times.
Bytes jpeg_with_repeated_scan(int times) {
  const JpegKind kind{.width = 64,
                      .height = 64,
                      .samples_are = JCS_GRAYSCALE,
                      .stored_as = JCS_GRAYSCALE,
                      .scans = {{1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 63, 0, 0}}};
  const Bytes jpeg = make_jpeg(kind, Samples(64 * 64, 90));
  const Bytes scan(jpeg.begin() + ptrdiff_t(last_scan_of(jpeg)), jpeg.end() - 2);
  return inserted(jpeg, jpeg.size() - 2, repeated(scan, times));
}

TEST(DamagedImage, EveryTruncationIsRefusedOrLosesNothing) {
  for (const ImageSample& sample : images_of_every_kind()) {
    const RgbImage whole = decode_image(sample.bytes, sample.what);
    for (size_t size = 0; size < sample.bytes.size(); ++size) {
      const auto image = image_unless_refused(std::span(sample.bytes).first(size));
      if (!image) continue;
      EXPECT_EQ(image->rgb, whole.rgb) << sample.what << " cut to " << size << " bytes";
      EXPECT_GE(size + 2, sample.bytes.size()) << "only the end marker of a JPEG may be missing";
    }
  }
}

TEST(DamagedImage, RandomBytesNeverDoWorseThanAWrongPicture) {
  constexpr uint64_t kSeed = 20170721;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  int refused = 0;
  for (const ImageSample& sample : images_of_every_kind()) {
    for (int i = 0; i < 300; ++i) {
      Bytes bytes = sample.bytes;
      for (int64_t flips = 1 + random.below(4); flips > 0; --flips) {
        bytes[size_t(random.below(int64_t(bytes.size())))] = std::byte(random.below(256));
      }
      const auto image = image_unless_refused(bytes);
      refused += !image;
      if (!image) continue;
      EXPECT_GT(image->width, 0);
      EXPECT_LE(int64_t(image->width) * image->height, kSmall.max_pixels);
      EXPECT_EQ(image->rgb.size(), size_t(image->width) * size_t(image->height) * 3);
    }
  }
  EXPECT_GT(refused, 1000);  // four in ten samples are PNG, where nearly all must be noticed
}

TEST(DamagedImage, OtherFilesAreCalledByTheirName) {
  expect_refusal({}, "empty");
  expect_refusal(bytes_of("GIF89a\x01"), "as GIF");
  expect_refusal(bytes_of({"RIFF\x10\0\0\0WEBPVP8 ", 16}), "WebP");
  expect_refusal(bytes_of({"BM\x46\0\0\0\0\0\0\0\x36\0\0\0", 14}), "BMP");
  expect_refusal(bytes_of({"II*\0\x08\0\0\0", 8}), "TIFF");
  expect_refusal(bytes_of({"MM\0*\0\0\0\x08", 8}), "TIFF");
  expect_refusal(bytes_of({"\0\0\0\x18"
                           "ftypheic",
                           12}),
                 "HEIC");
  expect_refusal(bytes_of("%PDF-1.7"), "is a PDF; a JPEG, PNG, WebP, TIFF, GIF or BMP is needed");
  expect_refusal(bytes_of("\n <!DOCTYPE HTML><title>404</title>"), "HTML");
  expect_refusal(bytes_of("version https://git-lfs.github.com/spec/v1\n"), "git lfs pull");
  expect_refusal(bytes_of({"\x02\0\0\0\0\0\0\0{\"", 10}), "safetensors");
  expect_refusal(bytes_of("BMW 2002.jpg\n"), "text file");
  expect_refusal(bytes_of({"\x01\x02\0\x03", 4}), "is not a JPEG, PNG, WebP, TIFF, GIF or BMP");
}

TEST(DamagedImage, BeginningsAreNotEnough) {
  expect_refusal(bytes_of("\xff"), "after 1 byte of");
  expect_refusal(bytes_of("\x89PN"), "after 3 bytes");
  expect_refusal(bytes_of("\xff\xd8"), "ends too early");
  expect_refusal(bytes_of("\xff\xd8\xff"), "ends too early");
  expect_refusal(bytes_of("\x89PNG\r\n\x1a\n"), "ends too early");
}

TEST(DamagedImage, NamesCannotBreakTheLine) {
  const std::string message = error_of([] { decode_image({}, "two\nlines.png"); });
  EXPECT_NE(message.find("two?lines.png"), std::string::npos) << message;
}

TEST(DamagedImage, WhatIsNoReadableFileIsRefused) {
  const TemporaryDirectory directory;
  fs::create_directory(directory / "folder.jpg");
  write_file_atomically(directory / "words.png", std::string_view("no image\n"));
  for (const char* name : {"folder.jpg", "missing.jpg", "words.png"}) {
    check_message(error_of([&] { read_image(directory / name); }), name);
  }
  if (::geteuid() == 0) return;  // root may read every file
  write_image(directory / "locked.png", RgbImage(1, 1));
  fs::permissions(directory / "locked.png", fs::perms::none);
  check_message(error_of([&] { read_image(directory / "locked.png"); }), "locked.png");
}

TEST(DamagedPng, HandmadeCasesAreRefused) {
  const Bytes png = encode_png(noise_image(6, 5, 7));
  const Bytes end = png_chunk("IEND", {});

  Bytes wrong_crc = png;
  wrong_crc[png.size() - end.size() - 1] ^= std::byte{1};
  expect_refusal(wrong_crc, "CRC");
  Bytes wrong_text_crc = png_chunk("tEXt", bytes_of("a"));
  wrong_text_crc.back() ^= std::byte{1};
  expect_refusal(inserted(png, kPngHeaderSize, wrong_text_crc), "CRC");

  refusal_of(joined({png_header(6, 5), end}));
  refusal_of(joined({png_header(6, 5), png_chunk("IDAT", {}), end}));
  refusal_of(joined({png_header(0, 5), png_chunk("IDAT", Bytes(9)), end}));
  refusal_of(joined({png_header(6, 0), png_chunk("IDAT", Bytes(9)), end}));
  refusal_of(joined({png_header(0x80000000, 5), png_chunk("IDAT", Bytes(9)), end}));
  refusal_of(joined({png_header(1'000'001, 1), png_chunk("IDAT", Bytes(9)), end}));
  refusal_of(inserted(png, kPngHeaderSize, png_chunk("CgBI", Bytes(4))));
  expect_refusal(joined({png_header(500, 500), png_chunk("IDAT", Bytes(9)), end}), "too few");

  const Bytes five_rows(png.begin() + kPngHeaderSize, png.end());
  refusal_of(joined({png_header(6, 6), five_rows}));
}

TEST(DamagedPng, BadTextsAndProfilesDoNotCostThePicture) {
  const RgbImage image = noise_image(6, 5, 7);
  const Bytes png = encode_png(image);
  for (const char* type : {"zTXt", "iCCP", "iTXt", "tEXt", "sPLT", "zzZz"}) {
    const Bytes junk = joined({bytes_of({"n\0\0", 3}), Bytes(100'000, std::byte{0x78})});
    const Bytes with_junk = inserted(png, kPngHeaderSize, png_chunk(type, junk));
    EXPECT_EQ(decode_image(with_junk, type).rgb, image.rgb) << type;
    const Bytes huge = joined({big_endian(0x7fffffff), bytes_of(type), junk});
    refusal_of(inserted(png, kPngHeaderSize, huge));
  }
}

TEST(DamagedJpeg, HandmadeCasesAreRefused) {
  const Bytes jpeg = make_jpeg(noise_image(16, 16, 8));
  refusal_of(with_frame_size(jpeg, 0, 16));
  refusal_of(with_frame_size(jpeg, 16, 0));
  expect_refusal(with_frame_size(jpeg, 65500, 65500), "65500 x 65500 pixels");
  expect_refusal(with_frame_size(jpeg, 65535, 65535), "65500");
  expect_refusal(with_frame_size(make_jpeg(RgbImage(16, 16)), 500, 500), "too few");
  expect_refusal(with_frame_size(jpeg, 16, 32), "premature end");
  refusal_of(without_segments(jpeg, std::byte{0xdb}));
  refusal_of(without_segments(jpeg, std::byte{0xc0}));

  Bytes arithmetic = jpeg;
  arithmetic[position_of(jpeg, "\xff\xc0") + 1] = std::byte{0xc9};
  expect_refusal(arithmetic, "arithmetic");
  Bytes lossless = jpeg;
  lossless[position_of(jpeg, "\xff\xc0") + 1] = std::byte{0xc3};
  refusal_of(lossless);
}

TEST(DamagedJpeg, MissingTablesAreTheStandardOnesOrAnError) {
  const RgbImage image = noise_image(16, 16, 8);
  const std::byte tables{0xc4};
  const Bytes standard = make_jpeg(image);
  const auto read = image_unless_refused(without_segments(standard, tables));
  if (read) {
    EXPECT_EQ(read->rgb, decode_image(standard, "standard").rgb);
  }
  refusal_of(without_segments(make_jpeg(image, {.progressive = true}), tables));
}

TEST(DamagedJpeg, AColourWithoutDataIsNotPaintedGrey) {
  const Bytes jpeg = make_jpeg(noise_image(16, 16, 8), jpeg_kind_in_three_scans());
  Bytes two_scans(jpeg.begin(), jpeg.begin() + ptrdiff_t(last_scan_of(jpeg)));
  expect_refusal(joined({two_scans, bytes_of("\xff\xd9")}), "colour");
}

TEST(DamagedJpeg, ScansWithoutEndAreRefused) {
  EXPECT_EQ(decode_image(jpeg_with_repeated_scan(400), "many scans").rgb, Samples(64 * 64 * 3, 90));
  expect_refusal(jpeg_with_repeated_scan(20'000), "number of scans");

  const Bytes jpeg = jpeg_with_repeated_scan(0);
  const size_t scan = last_scan_of(jpeg);
  const Bytes header(jpeg.begin() + ptrdiff_t(scan), jpeg.begin() + ptrdiff_t(scan + 10));
  refusal_of(inserted(jpeg, jpeg.size() - 2, repeated(header, 5000)));
}

TEST(DamagedExif, IsIgnoredAndThePictureRead) {
  const RgbImage image = gradient_image(16, 8);
  const Bytes jpeg = make_jpeg(image);
  const RgbImage upright = decode_image(jpeg, "upright");
  constexpr uint64_t kSeed = 11;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  const Bytes tiff = exif_tiff(3, false);
  for (size_t size = 0; size < tiff.size(); ++size) {
    const Bytes cut(tiff.begin(), tiff.begin() + ptrdiff_t(size));
    const RgbImage read = decode_image(jpeg_with_exif(jpeg, cut), "cut EXIF");
    // The value ends at byte 32; up to there nothing may be made of the entry.
    if (size < 32) {
      EXPECT_EQ(read.rgb, upright.rgb) << "EXIF cut to " << size << " bytes";
    }
    Bytes wrong = tiff;
    for (int i = 0; i < 4; ++i) wrong[size_t(random.below(int64_t(tiff.size())))] = std::byte{0xff};
    wrong[size] = std::byte(random.below(256));
    EXPECT_EQ(decode_image(jpeg_with_exif(jpeg, wrong), "wrong EXIF").rgb.size(),
              upright.rgb.size());
  }
  Bytes far = tiff;
  for (size_t i = 4; i < 8; ++i) far[i] = std::byte{0xff};  // a directory beyond the data
  EXPECT_EQ(decode_image(jpeg_with_exif(jpeg, far), "far").rgb, upright.rgb);
  Bytes wrong_type = tiff;
  wrong_type[24] = std::byte{7};  // bytes of no kind instead of a number
  EXPECT_EQ(decode_image(jpeg_with_exif(jpeg, wrong_type), "wrong type").rgb, upright.rgb);
}

}  // namespace
}  // namespace sact::io
