// Tests of the outlines: each class has the points, holes and gaps that its name promises.
#include "data/shapes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>
#include <string>

#include "base/random.h"

namespace sact::data {
namespace {

constexpr float kTurn = 2 * std::numbers::pi_v<float>;

bool inside(int label, float proportion, float x, float y) {
  return unit_distance(label, proportion, x, y) < 0;
}

// How many separate pieces of the shape a circle around the origin passes through.
int pieces_on_circle(int label, float proportion, float radius) {
  constexpr int kSteps = 720;
  int entries = 0;
  for (int i = 0; i < kSteps; ++i) {
    const float now = kTurn * (float(i) + 0.5f) / kSteps, before = now - kTurn / kSteps;
    const bool is = inside(label, proportion, radius * std::cos(now), radius * std::sin(now));
    const bool was =
        inside(label, proportion, radius * std::cos(before), radius * std::sin(before));
    entries += is && !was;
  }
  return entries;
}

const float kProportions[] = {0, 0.5f, 1};

TEST(Shapes, StarsHaveFiveAndSixPoints) {
  for (float proportion : kProportions) {
    EXPECT_EQ(pieces_on_circle(0, proportion, 0.8f), 5);
    EXPECT_EQ(pieces_on_circle(1, proportion, 0.8f), 6);
    EXPECT_TRUE(inside(0, proportion, 0.95f, 0));
    EXPECT_TRUE(inside(1, proportion, 0.95f, 0));
  }
}

TEST(Shapes, RingIsClosedAndOpenRingHasOneGap) {
  for (float proportion : kProportions) {
    EXPECT_FALSE(inside(2, proportion, 0, 0));
    EXPECT_FALSE(inside(3, proportion, 0, 0));
    EXPECT_EQ(pieces_on_circle(2, proportion, 0.85f), 0) << "a closed ring is never entered";
    EXPECT_TRUE(inside(2, proportion, 0.85f, 0));
    EXPECT_EQ(pieces_on_circle(3, proportion, 0.85f), 1);
    EXPECT_FALSE(inside(3, proportion, 0.85f, 0));
    EXPECT_TRUE(inside(3, proportion, -0.85f, 0));
  }
}

TEST(Shapes, CrossHasFourArmsAndTeeThree) {
  for (float proportion : kProportions) {
    EXPECT_EQ(pieces_on_circle(5, proportion, 0.6f), 4);
    EXPECT_EQ(pieces_on_circle(6, proportion, 0.75f), 3);
  }
}

TEST(Shapes, ArrowHasAHeadWiderThanItsShaft) {
  for (float proportion : kProportions) {
    EXPECT_TRUE(inside(7, proportion, 0.2f, 0.55f));
    EXPECT_FALSE(inside(7, proportion, -0.2f, 0.3f));
    EXPECT_TRUE(inside(7, proportion, -0.9f, 0));
  }
}

TEST(Shapes, HeartHasANotchAndDropDoesNot) {
  for (float proportion : kProportions) {
    EXPECT_FALSE(inside(8, proportion, 0, -0.75f));
    EXPECT_TRUE(inside(8, proportion, 0.35f, -0.7f));
    EXPECT_TRUE(inside(8, proportion, -0.35f, -0.7f));
    EXPECT_TRUE(inside(9, proportion, 0, -0.9f));
    EXPECT_FALSE(inside(9, proportion, 0.35f, -0.7f));
    EXPECT_TRUE(inside(9, proportion, 0, 0.9f));
  }
}

TEST(Shapes, CrescentIsOpenToOneSide) {
  for (float proportion : kProportions) {
    EXPECT_TRUE(inside(4, proportion, -0.8f, 0));
    EXPECT_FALSE(inside(4, proportion, 0.1f, 0));
    EXPECT_FALSE(inside(4, proportion, 0.9f, 0));
  }
}

TEST(Shapes, EveryClassFillsTheUnitCircleWithoutLeavingIt) {
  for (int label = 0; label < kSyntheticClasses; ++label) {
    for (float proportion : kProportions) {
      float farthest = 0;
      for (float y = -1.3f; y < 1.3f; y += 0.01f) {
        for (float x = -1.3f; x < 1.3f; x += 0.01f) {
          if (inside(label, proportion, x, y)) farthest = std::max(farthest, std::hypot(x, y));
        }
      }
      EXPECT_LE(farthest, 1.0f) << synthetic_class_names()[size_t(label)] << " " << proportion;
      EXPECT_GE(farthest, 0.85f) << synthetic_class_names()[size_t(label)] << " " << proportion;
    }
  }
}

// Anti-aliasing takes the value for a distance: near the outline it must change by one per pixel.
TEST(Shapes, DistanceIsADistanceNearTheOutline) {
  const uint64_t seed = 20170717;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  for (int label = 0; label < kSyntheticClasses; ++label) {
    int off = 0, near = 0;
    for (int i = 0; i < 20000; ++i) {
      const float x = float(random.uniform(-1, 1)), y = float(random.uniform(-1, 1));
      if (std::abs(unit_distance(label, 0.5f, x, y)) > 0.05f) continue;
      constexpr float kStep = 1e-3f;
      const float slope_x =
          unit_distance(label, 0.5f, x + kStep, y) - unit_distance(label, 0.5f, x - kStep, y);
      const float slope_y =
          unit_distance(label, 0.5f, x, y + kStep) - unit_distance(label, 0.5f, x, y - kStep);
      ++near;
      off += std::abs(std::hypot(slope_x, slope_y) / (2 * kStep) - 1) > 0.02f;
    }
    ASSERT_GT(near, 500);
    EXPECT_LT(off, near / 20) << "at corners only, for " << synthetic_class_names()[size_t(label)];
  }
}

TEST(Shapes, PlacingTurnsScalesAndShifts) {
  Shape arrow;
  arrow.label = 7;
  arrow.x = 40;
  arrow.y = 30;
  arrow.radius = 20;
  arrow.angle = kTurn / 4;  // from pointing right to pointing down, as y grows downwards
  const ShapeField field(arrow);
  EXPECT_LT(field.distance(40, 48), 0);
  EXPECT_GT(field.distance(58, 30), 0);
  EXPECT_LT(field.distance(30, 35), 0) << "a corner of the head";
  EXPECT_NEAR(field.distance(40, 30 + 20 * 0.97f + 3), 3 * std::sin(std::atan2(0.72f, 0.87f)),
              0.01);
}

TEST(Shapes, MaskAddsUpToTheArea) {
  Shape ring;
  ring.label = 2;
  ring.x = 50.3f;
  ring.y = 49.1f;
  ring.radius = 40;
  double area = 0;
  for (float cover : shape_mask(ring, 100, 100).values) area += cover;
  const double outer = 0.97 * 40, inner = outer - 0.33 * 40;
  EXPECT_NEAR(area, std::numbers::pi * (outer * outer - inner * inner), 2);
  const Box box = shape_box(ring, 100, 100);
  EXPECT_NEAR(box.x0, 50.3 - outer, 1);
  EXPECT_NEAR(box.x1, 50.3 + outer, 1);
  EXPECT_NEAR(box.y0, 49.1 - outer, 1);
  EXPECT_NEAR(box.y1, 49.1 + outer, 1);
}

TEST(Shapes, NamesAreDistinct) {
  const auto& names = synthetic_class_names();
  EXPECT_EQ(std::set<std::string_view>(names.begin(), names.end()).size(), names.size());
  EXPECT_EQ(names[0], "five-pointed star");
  EXPECT_EQ(names[9], "drop");
}

}  // namespace
}  // namespace sact::data
