// Many images through the same work.
#include "app/image_loop.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "base/error.h"

namespace sact::app {
namespace {

TEST(ImageLoop, WhatGoesWrongWithOneImageIsToldInOneLineThatNamesIt) {
  const Input cat{"photos/cat.jpg", {}};
  EXPECT_EQ(failure_of(cat, [] {}), "");
  EXPECT_EQ(failure_of(cat, [] { fail("is no image"); }), "photos/cat.jpg: is no image");
  const auto foreign = [] {
    throw std::runtime_error("no memory\nException raised from f at g.cpp:1\nand more calls");
  };
  EXPECT_EQ(failure_of(cat, foreign), "photos/cat.jpg: no memory");
  const Input lines{"two\nlines.jpg", {}};
  EXPECT_EQ(failure_of(lines, [] { fail("two\nlines.jpg: is no image"); }),
            "two\nlines.jpg: is no image");
  EXPECT_EQ(failure_of(cat, [] { fail("photos/cat.jpg: is no image"); }),
            "photos/cat.jpg: is no image");
  EXPECT_EQ(failure_of(cat, [] { throw std::bad_alloc(); }),
            "photos/cat.jpg: not enough memory for this image");
  EXPECT_EQ(failure_of({"empty", "empty: has no images"}, [] { FAIL() << "there is no image"; }),
            "empty: has no images");
}

TEST(ImageLoop, ResultsComeInOrderAndAnInterruptionEndsIt) {
  std::vector<Input> inputs;
  for (int i = 0; i < 20; ++i) inputs.push_back({std::to_string(i), {}});
  std::vector<size_t> order;
  const auto work = [](int, size_t i) {
    if (i == 3) fail("cannot be read");
    return int(i) * 10;
  };
  const auto take = [&](size_t i, ImageOutcome<int> outcome) {
    order.push_back(i);
    if (i == 3) {
      EXPECT_EQ(outcome.failure, "3: cannot be read");
    } else {
      EXPECT_EQ(outcome.result, int(i) * 10);
    }
  };
  EXPECT_TRUE(run_images({"testing", 4, [] { return false; }}, inputs, work, take));
  ASSERT_EQ(order.size(), 20u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  order.clear();
  EXPECT_FALSE(run_images({"testing", 2, [&] { return order.size() >= 2; }}, inputs, work, take));
  EXPECT_LT(order.size(), 20u);
}

}  // namespace
}  // namespace sact::app
