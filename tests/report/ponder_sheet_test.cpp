// The overview of many maps has one scale, and says what it shows.
#include "report/ponder_sheet.h"

#include <gtest/gtest.h>

#include <cmath>

#include "report/colorbar.h"
#include "report/colormap.h"
#include "report/overlay.h"
#include "report/samples.h"

namespace sact::report {
namespace {

using test::color_at;
using test::plain_image;

constexpr Rgb kGrey{128, 128, 128};
constexpr int kCell = 240;

/// Where the picture in the first cell of a sheet starts: below the heading.
int first_row(const io::RgbImage& sheet) {
  for (int y = 0; y < sheet.height; ++y) {
    int inked = 0;
    for (int x = 8; x < 8 + kCell; ++x) inked += color_at(sheet, x, y) != kWhite;
    if (inked == kCell) return y;
  }
  return -1;
}

PonderSheet sheet_of(const std::vector<Map>& maps) {
  PonderSheet sheet;
  for (const Map& map : maps) sheet.add(plain_image(kCell, kCell, kGrey), map, "name\nclass");
  return sheet;
}

TEST(PonderSheet, EqualCostsHaveEqualColoursInAllCells) {
  // Scaled one by one, both maps would span all colours.
  Map low(1, 2), high(1, 2);
  low.values = {2, 6};
  high.values = {6, 10};
  const io::RgbImage sheet = sheet_of({low, high}).draw(2);
  const int y = first_row(sheet) + 100;
  const int second = 8 + kCell + 8;
  EXPECT_EQ(color_at(sheet, 8 + kCell - 1, y), color_at(sheet, second, y));
  EXPECT_NE(color_at(sheet, 8, y), color_at(sheet, second, y));
  const io::RgbImage expected =
      overlay(plain_image(kCell, kCell, kGrey), high, ValueRange{2, 10}, 0.6);
  EXPECT_EQ(color_at(sheet, second, y), color_at(expected, 0, 100));
}

TEST(PonderSheet, OneColourBarSpansTheCommonRange) {
  const io::RgbImage sheet = sheet_of({Map(1, 1, 3.0f), Map(1, 1, 7.0f)}).draw(1);
  Canvas bar(60, 300);
  draw_colorbar(bar, 0, 20, kCell, {3, 7}, {12});
  const int top = first_row(sheet), left = 8 + kCell + 8 + 8;
  for (int y = 0; y < kCell; y += 20) {
    EXPECT_EQ(color_at(sheet, left + 5, top + y), color_at(bar.image(), 5, 20 + y)) << y;
  }
  int below = 0;  // the second row has no bar of its own
  for (int y = top + kCell + 20; y < sheet.height; ++y) {
    below += color_at(sheet, left + 5, y) != kWhite;
  }
  EXPECT_EQ(below, 0);
}

TEST(PonderSheet, LargePhotographsAreShrunkAndSmallOnesEnlarged) {
  PonderSheet large, small;
  large.add(plain_image(2000, 1000, kGrey), Map(2, 4, 1.0f), "x");
  small.add(plain_image(20, 10, kGrey), Map(2, 4, 1.0f), "x");
  const io::RgbImage a = large.draw(4), b = small.draw(4);
  EXPECT_EQ(a.width, b.width);
  EXPECT_EQ(a.height, b.height);
  EXPECT_LT(a.width, 8 + kCell + 100);
}

TEST(PonderSheet, VeryManyCellsStandInMoreColumns) {
  PonderSheet sheet;
  for (int i = 0; i < 161; ++i) sheet.add(plain_image(4, 4, kGrey), Map(1, 1, 1.0f), "a\nb\nc");
  const io::RgbImage drawn = sheet.draw(1);
  EXPECT_GT(drawn.width, 3 * kCell);
  EXPECT_LT(drawn.height, 32'767);
}

TEST(PonderSheet, ObjectsAreOutlinedWhereTheyAre) {
  PonderSheet sheet;  // the photograph is shrunk to a quarter
  sheet.add(plain_image(4 * kCell, 4 * kCell, kGrey), Map(1, 1, 1.0f), "x",
            {{{160, 240, 480, 720}, 3, ""}});
  const io::RgbImage drawn = sheet.draw(1);
  const int top = first_row(drawn);
  const Rgb plain = color_at(drawn, 8 + 20, top + 20), line = kind_color(3);
  EXPECT_EQ(color_at(drawn, 8 + 40, top + 100), line);
  EXPECT_EQ(color_at(drawn, 8 + 119, top + 100), line);
  EXPECT_EQ(color_at(drawn, 8 + 80, top + 60), line);
  EXPECT_EQ(color_at(drawn, 8 + 80, top + 179), line);
  EXPECT_EQ(color_at(drawn, 8 + 80, top + 100), plain);
  EXPECT_EQ(color_at(drawn, 8 + 130, top + 100), plain);
}

TEST(PonderSheet, MapsWithoutFiniteValuesDoNotDisturbTheOthers) {
  const io::RgbImage sheet = sheet_of({Map(1, 1, NAN), Map(1, 1, 3.0f), Map(1, 1, 7.0f)}).draw(3);
  const int y = first_row(sheet) + 50;
  const io::RgbImage missing =
      overlay(plain_image(2, 2, kGrey), Map(1, 1, NAN), ValueRange{3, 7}, 0.6);
  EXPECT_EQ(color_at(sheet, 20, y), color_at(missing, 0, 0));
  EXPECT_NE(color_at(sheet, 8 + 2 * (kCell + 8) + 20, y), color_at(sheet, 8 + kCell + 8 + 20, y));
}

}  // namespace
}  // namespace sact::report
