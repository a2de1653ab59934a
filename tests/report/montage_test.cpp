// Contact sheets have the geometry they promise.
#include "report/montage.h"

#include <gtest/gtest.h>

#include "report/samples.h"
#include "support/errors.h"

namespace sact::report {
namespace {

using test::color_at;
using test::count_color;
using test::plain_image;

constexpr Rgb kRed{200, 10, 20};
constexpr Rgb kBlue{10, 20, 200};

TEST(Montage, RowsAreAsHighAsTheirHighestPicture) {
  const std::vector<io::RgbImage> images{plain_image(100, 50, kRed), plain_image(40, 20, kRed),
                                         plain_image(20, 40, kBlue)};
  const io::RgbImage sheet = montage(images, 2, 60);
  EXPECT_EQ(sheet.width, 8 + 2 * (60 + 8));
  EXPECT_EQ(sheet.height, 8 + 30 + 8 + 60 + 8);
  EXPECT_EQ(count_color(sheet, kRed), 2 * 60 * 30);
  EXPECT_EQ(count_color(sheet, kBlue), 30 * 60);
  EXPECT_EQ(color_at(sheet, 8, 8), kRed);
  EXPECT_EQ(color_at(sheet, 8 + 15, 46), kBlue) << "centred in its cell";
  EXPECT_EQ(color_at(sheet, 8 + 14, 46), kWhite);
  EXPECT_EQ(color_at(sheet, 8 + 60 + 8 + 30, 80), kWhite) << "the last cell is free";
}

TEST(Montage, FewerPicturesThanColumnsLeaveNoEmptyColumns) {
  EXPECT_EQ(montage({plain_image(10, 10, kRed)}, 6, 50).width, 8 + 50 + 8);
}

TEST(Montage, CaptionsAreUnderThePicturesAndInsideTheCell) {
  const std::vector<io::RgbImage> images{plain_image(9, 9, kRed), plain_image(9, 9, kRed)};
  const io::RgbImage without = montage(images, 2, 80);
  const io::RgbImage with = montage(images, 2, 80, {"a long caption that has to be shortened", ""});
  EXPECT_EQ(with.width, without.width);
  ASSERT_GT(with.height, without.height + 10);
  int ink = 0;
  for (int y = 8 + 80; y < with.height; ++y) {
    for (int x = 0; x < with.width; ++x) {
      if (color_at(with, x, y) == kWhite) continue;
      ++ink;
      EXPECT_GE(x, 8);
      EXPECT_LT(x, 8 + 80);
    }
  }
  EXPECT_GT(ink, 50);
}

TEST(Montage, LinesOfACaptionStandBelowEachOther) {
  const std::vector<io::RgbImage> images{plain_image(9, 9, kRed), plain_image(9, 9, kRed)};
  const io::RgbImage one = montage(images, 2, 80, {"first", "other"});
  const io::RgbImage two = montage(images, 2, 80, {"first\nsecond", "other"});
  ASSERT_GT(two.height, one.height + 10);
  for (int x = 0; x < 88; ++x) {
    for (int y = 0; y < one.height - 12; ++y) ASSERT_EQ(color_at(one, x, y), color_at(two, x, y));
  }
  int left = 0, right = 0;
  for (int y = one.height - 6; y < two.height; ++y) {
    for (int x = 0; x < two.width; ++x) (x < 88 ? left : right) += color_at(two, x, y) != kWhite;
  }
  EXPECT_GT(left, 30);
  EXPECT_EQ(right, 0);
}

TEST(Montage, ExtremeShapesKeepAtLeastOnePixel) {
  const io::RgbImage sheet =
      montage({plain_image(3000, 1, kRed), plain_image(1, 3000, kBlue)}, 1, 40);
  EXPECT_EQ(count_color(sheet, kRed), 40);
  EXPECT_EQ(count_color(sheet, kBlue), 40);
}

TEST(Montage, RefusesSheetsThatWouldFillTheMemory) {
  const std::vector<io::RgbImage> images(4, plain_image(2, 2, kRed));
  const std::string message = test::error_of([&] { montage(images, 2, 1'000'000); });
  EXPECT_NE(message.find("contact sheet"), std::string::npos) << message;
}

TEST(MontageDeathTest, WrongNumberOfCaptionsIsOurOwnMistake) {
  EXPECT_DEATH(montage({plain_image(2, 2, kRed)}, 1, 20, {"a", "b"}), "internal error");
}

}  // namespace
}  // namespace sact::report
