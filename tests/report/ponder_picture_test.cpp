// The picture of a prediction comes out well for photographs and maps of all kinds.
#include "report/ponder_picture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "report/colormap.h"
#include "report/samples.h"

namespace sact::report {
namespace {

using test::count_color;

constexpr Rgb kGreen{20, 190, 60};

PonderPicture example(int width, int height, int blocks) {
  PonderPicture picture;
  picture.photo = test::plain_image(width, height, kGreen);
  picture.total = test::ramp_map(14, 14, 4, 31);
  for (int i = 0; i < blocks; ++i) {
    const int side = std::max(2, 14 >> i);
    picture.blocks.push_back({test::ramp_map(side, side, 1, float(4 + i)), 3 + i});
  }
  picture.title = "cat.jpg: tabby cat (0.93)";
  picture.subtitle = "ponder cost ρ = 14.7";
  return picture;
}

/// The box of all pixels of a colour.
Rectangle bounds(const io::RgbImage& image, Rgb color) {
  int left = image.width, top = image.height, right = 0, bottom = 0;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      if (test::color_at(image, x, y) != color) continue;
      left = std::min(left, x), right = std::max(right, x + 1);
      top = std::min(top, y), bottom = std::max(bottom, y + 1);
    }
  }
  return {left, top, right - left, bottom - top};
}

bool has_white_border(const io::RgbImage& image, int border) {
  const Rectangle ink = test::ink(image);
  return ink.x >= border && ink.y >= border && ink.x + ink.width <= image.width - border &&
         ink.y + ink.height <= image.height - border;
}

TEST(PonderPicture, PhotographsOfAnyShapeKeepTheirAspect) {
  struct Case {
    int width, height, blocks;
  };
  for (const auto& [width, height, blocks] :
       {Case{640, 480, 4}, {32, 32, 3}, {1200, 200, 6}, {200, 900, 4}, {2000, 1500, 1}}) {
    SCOPED_TRACE(testing::Message() << width << " x " << height << ", blocks " << blocks);
    const io::RgbImage image = draw_ponder_picture(example(width, height, blocks));
    const Rectangle photo = bounds(image, kGreen);
    EXPECT_EQ(count_color(image, kGreen), photo.width * photo.height) << "one whole photograph";
    EXPECT_NEAR(double(photo.width) / photo.height / (double(width) / height), 1, 0.02);
    EXPECT_GE(std::max(photo.width, photo.height), 280);
    EXPECT_LE(std::max(photo.width, photo.height), 480);
    EXPECT_TRUE(has_white_border(image, 16));
    EXPECT_LE(image.width, 1700);
    EXPECT_LE(image.height, 1500);
  }
}

TEST(PonderPicture, AbsurdShapesStillGiveAPicture) {
  for (const auto& [width, height] : {std::pair{1, 1}, std::pair{5000, 1}, std::pair{1, 5000}}) {
    const io::RgbImage image = draw_ponder_picture(example(width, height, 3));
    EXPECT_GT(count_color(image, kGreen), 1000) << width << " x " << height;
    EXPECT_LE(image.width, 1700);
    EXPECT_LE(image.height, 1500);
  }
}

TEST(PonderPicture, IsAFunctionOfItsInputs) {
  EXPECT_EQ(draw_ponder_picture(example(60, 40, 3)).rgb,
            draw_ponder_picture(example(60, 40, 3)).rgb);
}

TEST(PonderPicture, ConstantMapsShowOneColorAndOneValue) {
  PonderPicture picture = example(300, 300, 1);
  picture.total = Map(14, 14, 33);
  picture.blocks[0].ponder_cost = Map(14, 14, 33);
  const io::RgbImage image = draw_ponder_picture(picture);
  EXPECT_GT(count_color(image, sequential_color(0.5)), 2 * 290 * 290);
  EXPECT_EQ(count_color(image, sequential_color(0)), 0);
  picture.total = Map(14, 14, 32);
  EXPECT_NE(draw_ponder_picture(picture).rgb, image.rgb) << "the value can be read";
}

TEST(PonderPicture, CellsWithoutValueAreGreyInEveryMap) {
  PonderPicture picture = example(280, 280, 3);
  const int before = count_color(draw_ponder_picture(picture), kMissingColor);
  picture.total.at(3, 3) = std::nanf("");
  const int one_cell = count_color(draw_ponder_picture(picture), kMissingColor) - before;
  EXPECT_NEAR(one_cell, 290 * 290 / 196, 45);
  picture.blocks[1].ponder_cost.values.assign(49, std::numeric_limits<float>::infinity());
  picture.blocks[2].ponder_cost.at(0, 0) = -std::numeric_limits<float>::infinity();
  EXPECT_GT(count_color(draw_ponder_picture(picture), kMissingColor) - before, 40000);
}

TEST(PonderPicture, EveryBlockHasItsOwnRange) {
  PonderPicture picture = example(300, 300, 0);
  picture.blocks.push_back({test::ramp_map(2, 2, 0, 1), 1});
  picture.blocks.push_back({test::ramp_map(2, 2, 100, 900), 1});
  const io::RgbImage image = draw_ponder_picture(picture);
  EXPECT_GT(count_color(image, sequential_color(1)), 2 * 140 * 140)
      << "each map has one cell of the lightest colour, a quarter of its panel";
}

TEST(PonderPicture, LongTextsAreCutAtTheMargin) {
  PonderPicture picture = example(100, 100, 2);
  const io::RgbImage usual = draw_ponder_picture(picture);
  picture.title = std::string(2000, 'W');
  picture.subtitle = std::string(2000, '\n');
  const io::RgbImage image = draw_ponder_picture(picture);
  EXPECT_EQ(image.width, usual.width);
  EXPECT_EQ(image.height, usual.height);
  EXPECT_TRUE(has_white_border(image, 16));
}

TEST(PonderPicture, WithoutBlocksThereIsNoSecondRow) {
  const io::RgbImage without = draw_ponder_picture(example(300, 300, 0));
  const io::RgbImage with = draw_ponder_picture(example(300, 300, 1));
  EXPECT_GT(with.height, without.height + 250);
}

TEST(PonderPictureDeathTest, EmptyInputsAreOurOwnMistake) {
  PonderPicture picture = example(10, 10, 1);
  picture.total = Map();
  EXPECT_DEATH(draw_ponder_picture(picture), "internal error");
  picture = example(10, 10, 1);
  picture.photo = io::RgbImage();
  EXPECT_DEATH(draw_ponder_picture(picture), "internal error");
}

}  // namespace
}  // namespace sact::report
