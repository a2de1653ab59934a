#include "report/detection_picture.h"

#include <gtest/gtest.h>

#include "report/canvas.h"
#include "report/samples.h"

namespace sact::report {
namespace {

using test::color_at;
using test::count_color;

constexpr Rgb kGrey{90, 90, 90};

DetectionPicture picture_of(std::vector<DrawnObject> objects, int width = 300, int height = 200) {
  DetectionPicture picture;
  picture.photo = test::plain_image(width, height, kGrey);
  picture.objects = std::move(objects);
  picture.ponder_cost = test::ramp_map(20, 30, 3, 12);
  picture.title = "street.jpg";
  picture.subtitle = "300 proposals";
  picture.caption = "1 object";
  return picture;
}

TEST(DetectionPicture, NeighbouringKindsLookDifferent) {
  for (int kind = 0; kind < 80; ++kind) {
    const Oklab color = oklab_from_rgb(kind_color(kind));
    EXPECT_GT(color.lightness, 0.55) << kind;
    for (int other = kind + 1; other < kind + 5; ++other) {
      EXPECT_GT(distance(color, oklab_from_rgb(kind_color(other))), 0.08) << kind << ", " << other;
    }
  }
}

TEST(DetectionPicture, ShowsBoxesInTheColourOfTheirKind) {
  const io::RgbImage none = draw_detection_picture(picture_of({}));
  const io::RgbImage two = draw_detection_picture(
      picture_of({{{30, 40, 120, 150}, 2, "dog 97 %"}, {{180, 60, 280, 190}, 5, "car 41 %"}}));
  EXPECT_EQ(none.width, two.width);
  EXPECT_EQ(none.height, two.height);
  for (const int kind : {2, 5}) {
    EXPECT_EQ(count_color(none, kind_color(kind)), 0);
    EXPECT_GT(count_color(two, kind_color(kind)), 1000);
  }
  EXPECT_EQ(count_color(two, kind_color(3)), 0);
}

TEST(DetectionPicture, TextsOfDifferentObjectsKeepApart) {
  // Two objects at one place: the text of each covers about as many pixels as if it were alone.
  const auto pixels = [](std::vector<DrawnObject> objects, int kind) {
    return count_color(draw_detection_picture(picture_of(std::move(objects))), kind_color(kind));
  };
  const DrawnObject first{{100, 80, 200, 160}, 1, "dog 97 %"};
  const DrawnObject second{{104, 84, 204, 164}, 2, "dog 88 %"};
  const int alone = pixels({second}, 2), together = pixels({first, second}, 2);
  EXPECT_GT(together, alone * 8 / 10);
  EXPECT_EQ(pixels({first}, 1), pixels({first, second}, 1)) << "the first is not on top";
}

TEST(DetectionPicture, AnyBoxAndAnyShapeCanBeDrawn) {
  const float kFar = 1e9f;
  for (const auto& [width, height] :
       {std::pair(300, 200), std::pair(1, 1), std::pair(2000, 10), std::pair(10, 2000)}) {
    const io::RgbImage image = draw_detection_picture(
        picture_of({{{0, 0, float(width), float(height)}, 0, std::string(300, 'x')},
                    {{-kFar, -kFar, kFar, kFar}, 1, "everything"},
                    {{5, 5, 5, 5}, 2, "a point"},
                    {{kFar, 0, kFar, 1}, 1000000, "far away"},
                    {{20, 10, 8, 2}, -3, "inverted"}},
                   width, height));
    EXPECT_GE(image.width, 600);
    EXPECT_LT(image.width, 1800);
    EXPECT_LT(image.height, 900);
  }
}

}  // namespace
}  // namespace sact::report
