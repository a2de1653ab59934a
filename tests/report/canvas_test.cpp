// Drawing touches the pixels it should and no memory beyond the image.
#include "report/canvas.h"

#include <gtest/gtest.h>

#include <climits>

#include "base/random.h"
#include "report/samples.h"

namespace sact::report {
namespace {

using test::color_at;
using test::count_color;

constexpr Rgb kRed{200, 10, 20};

TEST(Canvas, FillsExactlyTheRectangle) {
  Canvas canvas(8, 6);
  canvas.fill_rectangle({2, 1, 3, 4}, kRed);
  EXPECT_EQ(count_color(canvas.image(), kRed), 12);
  EXPECT_EQ(color_at(canvas.image(), 2, 1), kRed);
  EXPECT_EQ(color_at(canvas.image(), 4, 4), kRed);
  EXPECT_EQ(color_at(canvas.image(), 5, 4), kWhite);
  EXPECT_EQ(color_at(canvas.image(), 4, 5), kWhite);
}

TEST(Canvas, AlphaMixesWithWhatIsThere) {
  Canvas canvas(2, 1, {100, 200, 0});
  canvas.fill_rectangle({0, 0, 1, 1}, {200, 100, 0}, 0.25);
  const Rgb mixed = color_at(canvas.image(), 0, 0);
  EXPECT_NEAR(mixed.r, 125, 1);
  EXPECT_NEAR(mixed.g, 175, 1);
  EXPECT_EQ(mixed.b, 0);
  EXPECT_EQ(color_at(canvas.image(), 1, 0), (Rgb{100, 200, 0}));
}

TEST(Canvas, FrameIsTheRimOfItsBox) {
  Canvas canvas(9, 9);
  canvas.frame({1, 2, 6, 5}, kRed);
  EXPECT_EQ(count_color(canvas.image(), kRed), 2 * 6 + 2 * 3);
  EXPECT_EQ(color_at(canvas.image(), 6, 6), kRed);
  EXPECT_EQ(color_at(canvas.image(), 2, 3), kWhite);
}

TEST(Canvas, DrawingOverTheBordersIsCutOff) {
  Canvas canvas(10, 10);
  canvas.fill_rectangle({-5, -5, 7, 7}, kRed);
  EXPECT_EQ(count_color(canvas.image(), kRed), 4);
  canvas.blit(test::plain_image(4, 4, kRed), 8, 8);
  EXPECT_EQ(count_color(canvas.image(), kRed), 8);
  canvas.blit(test::plain_image(4, 4, kRed), -4, 0);
  canvas.blit(test::plain_image(4, 4, kRed), 0, 10);
  canvas.fill_rectangle({3, 3, -4, 2}, kRed);
  canvas.frame({-3, -3, 30, 30}, kRed);
  EXPECT_EQ(count_color(canvas.image(), kRed), 8);
}

TEST(Canvas, BoxesMayReachToTheEndsOfInt) {
  Canvas canvas(10, 10);
  canvas.fill_rectangle({INT_MAX, 0, INT_MAX, 5}, kRed);
  canvas.fill_rectangle({INT_MIN, 0, INT_MIN, 5}, kRed);
  canvas.frame({INT_MAX - 1, INT_MAX - 1, INT_MAX, INT_MAX}, kRed);
  canvas.blit(test::plain_image(2, 2, kRed), INT_MIN, INT_MAX);
  EXPECT_EQ(count_color(canvas.image(), kRed), 0);
  canvas.frame({4, 7, INT_MAX, INT_MAX}, kRed);
  EXPECT_EQ(count_color(canvas.image(), kRed), 6 + 2) << "the left top corner of a huge frame";
  canvas.fill_rectangle({INT_MIN, 0, INT_MAX, 10}, kRed);
  EXPECT_EQ(count_color(canvas.image(), kRed), 8) << "ends left of the image";
}

TEST(Canvas, TextMayLeaveTheImageAnywhere) {
  const uint64_t seed = 3;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  Canvas canvas(20, 15);
  for (int i = 0; i < 200; ++i) {
    const double far = random.coin(0.2) ? 1e12 : 60;
    canvas.text(random.uniform(-far, far), int(random.uniform(-40, 40)), "Wj@_g",
                {random.uniform(1, 60)}, kRed, Align(random.below(3)));
  }
  EXPECT_GT(count_color(canvas.image(), kRed), 0);
  Canvas untouched(20, 15);
  untouched.text(0, INT_MAX, "far below", {13}, kRed);
  untouched.text(0, INT_MIN, "far above", {13}, kRed);
  untouched.text(-1e15, 7, "far left", {13}, kRed);
  EXPECT_EQ(count_color(untouched.image(), kWhite), 20 * 15);
}

TEST(Canvas, ImagesComeBackAsTheyWere) {
  Random random(5);
  io::RgbImage image(13, 7);
  for (uint8_t& value : image.rgb) value = uint8_t(random.below(256));
  EXPECT_EQ(Canvas(image).image().rgb, image.rgb);
}

TEST(Canvas, TextIsAlignedByItsWidth) {
  const Font font{14};
  const double width = text_width("HIH", font);
  Canvas left(200, 30), center(200, 30), right(200, 30);
  left.text(100, 20, "HIH", font, kRed, Align::kLeft);
  center.text(100, 20, "HIH", font, kRed, Align::kCenter);
  right.text(100, 20, "HIH", font, kRed, Align::kRight);
  const Rectangle from_left = test::ink(left.image()), centered = test::ink(center.image()),
                  from_right = test::ink(right.image());
  EXPECT_GE(from_left.x, 100);
  EXPECT_LE(from_left.x + from_left.width, 101 + width);
  EXPECT_NEAR(centered.x + centered.width / 2.0, 100, 1);
  EXPECT_NEAR(from_left.x - from_right.x, width, 1);
  EXPECT_LE(from_right.x + from_right.width, 100);
}

TEST(Canvas, CenteredBaselinePutsCapitalsInTheMiddle) {
  for (const double size : {11.0, 12.0, 13.0, 18.0}) {
    Canvas canvas(40, 41);
    canvas.text(5, centered_baseline(20.5, {size}), "H", {size}, {0, 0, 0});
    const Rectangle ink = test::ink(canvas.image());
    EXPECT_NEAR(ink.y + ink.height / 2.0, 20.5, 1) << "size " << size;
  }
}

TEST(Canvas, BlitScaledFillsItsBox) {
  Canvas canvas(12, 12);
  canvas.blit_scaled(test::plain_image(3, 5, kRed), {1, 2, 7, 8});
  EXPECT_EQ(count_color(canvas.image(), kRed), 56);
  EXPECT_EQ(color_at(canvas.image(), 7, 9), kRed);
}

TEST(CanvasDeathTest, EmptyImagesAreOurOwnMistake) {
  EXPECT_DEATH(Canvas(0, 5), "internal error");
  EXPECT_DEATH(Canvas{io::RgbImage()}, "internal error");
}

}  // namespace
}  // namespace sact::report
