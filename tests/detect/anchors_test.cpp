// Tests of the anchors: where they lie, how large they are and in which order.
#include "detect/anchors.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sact::detect {
namespace {

TEST(Anchors, TheFirstCellHasAllShapesAboutItsMiddle) {
  const auto anchors = make_anchors({}, {1, 1});
  ASSERT_EQ(anchors.size(), 12u);
  const float root = std::sqrt(2.0f);
  // Ratio 0.5 is half as high as wide: 64 * sqrt(2) by 64 / sqrt(2) about (8, 8).
  EXPECT_NEAR(anchors[0].x0, 8 - 32 * root, 1e-4);
  EXPECT_NEAR(anchors[0].y0, 8 - 32 / root, 1e-4);
  EXPECT_NEAR(anchors[0].x1, 8 + 32 * root, 1e-4);
  EXPECT_NEAR(anchors[0].y1, 8 + 32 / root, 1e-4);
  EXPECT_EQ(anchors[1], (Box{-24, -24, 40, 40}));
  EXPECT_NEAR(anchors[2].height(), 2 * anchors[2].width(), 1e-3);
  EXPECT_EQ(anchors[4], (Box{-56, -56, 72, 72}));
  EXPECT_EQ(anchors[10], (Box{-248, -248, 264, 264}));
}

TEST(Anchors, AreasAreTheSquaresOfTheSizes) {
  const AnchorSettings settings;
  const auto anchors = make_anchors(settings, {1, 1});
  for (size_t i = 0; i < anchors.size(); ++i) {
    const float size = settings.sizes[i / 3];
    EXPECT_NEAR(area(anchors[i]), size * size, 0.05 * size);
    EXPECT_NEAR(anchors[i].height() / anchors[i].width(), settings.ratios[i % 3], 1e-4);
  }
}

TEST(Anchors, TheOrderIsRowColumnSizeRatio) {
  const AnchorSettings settings{{10, 20}, {1, 4}, 8};
  const auto anchors = make_anchors(settings, {3, 5});
  ASSERT_EQ(settings.per_cell(), 4);
  ASSERT_EQ(anchors.size(), size_t(3 * 5 * 4));
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 5; ++x) {
      const Box* cell = &anchors[size_t((y * 5 + x) * 4)];
      const float cx = 8 * float(x) + 4, cy = 8 * float(y) + 4;
      EXPECT_EQ(cell[0], (Box{cx - 5, cy - 5, cx + 5, cy + 5}));
      EXPECT_EQ(cell[1], (Box{cx - 2.5f, cy - 10, cx + 2.5f, cy + 10}));
      EXPECT_EQ(cell[2], (Box{cx - 10, cy - 10, cx + 10, cy + 10}));
      EXPECT_EQ(cell[3], (Box{cx - 5, cy - 20, cx + 5, cy + 20}));
    }
  }
}

TEST(Anchors, AnEmptyGridHasNone) {
  EXPECT_TRUE(make_anchors({}, {0, 7}).empty());
}

}  // namespace
}  // namespace sact::detect
