// The active set and what surrounds it, against a slow direct form.
#include "engine/rows.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace sact::engine {
namespace {

/// Whether a position of the 3x3 window around a row, in the same image, is in the set.
bool touches(const Grid& grid, const std::vector<bool>& set, int row) {
  const int image = row / grid.positions(), position = row % grid.positions();
  const int y = position / grid.size.width, x = position % grid.size.width;
  for (int sy = y - 1; sy <= y + 1; ++sy) {
    for (int sx = x - 1; sx <= x + 1; ++sx) {
      if (sy < 0 || sy >= grid.size.height || sx < 0 || sx >= grid.size.width) continue;
      if (set[size_t(image * grid.positions() + sy * grid.size.width + sx)]) return true;
    }
  }
  return false;
}

void expect_lists(const ActiveRows& rows, const Grid& grid, const std::vector<bool>& set) {
  RowList active, dilated, rim;
  for (int row = 0; row < grid.rows(); ++row) {
    if (set[size_t(row)]) active.push_back(row);
    if (!touches(grid, set, row)) continue;
    dilated.push_back(row);
    if (!set[size_t(row)]) rim.push_back(row);
  }
  EXPECT_EQ(rows.active(), active);
  EXPECT_EQ(rows.dilated(), dilated);
  EXPECT_EQ(rows.rim(), rim);
  if (active.empty()) return;  // then nobody asks for masks
  for (int32_t row = 0; row < grid.rows(); ++row) {
    EXPECT_EQ(rows.active_mask()[row], std::count(active.begin(), active.end(), row));
    EXPECT_EQ(rows.dilated_mask()[row], std::count(dilated.begin(), dilated.end(), row));
  }
}

TEST(ActiveRows, ShrinkingSetsHaveTheirDilationAndRim) {
  ActiveRows rows;
  rows.reserve(5 * 100);
  const Grid grids[] = {{1, {7, 9}}, {3, {4, 5}}, {5, {1, 6}},
                        {2, {6, 1}}, {4, {1, 1}}, {5, {10, 10}}};
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    for (const Grid& grid : grids) {
      SCOPED_TRACE(testing::Message()
                   << grid.images << " of " << grid.size.height << "x" << grid.size.width);
      std::vector<bool> set(size_t(grid.rows()), true);
      rows.start(grid);
      expect_lists(rows, grid, set);
      while (!rows.active().empty()) {
        for (int32_t row : rows.active()) {
          set[size_t(row)] = random.coin(0.6);
          rows.keep(row, set[size_t(row)]);
        }
        rows.update();
        expect_lists(rows, grid, set);
      }
    }
  }
}

TEST(ActiveRows, ACornerTouchesFourPositionsAndNoOtherImage) {
  const Grid grid{3, {4, 4}};
  ActiveRows rows;
  rows.reserve(grid.rows());
  rows.start(grid);
  const int32_t corner = 16 + 15;  // the last position of the second image
  for (int32_t row = 0; row < grid.rows(); ++row) rows.keep(row, row == corner);
  rows.update();
  EXPECT_EQ(rows.active(), (RowList{corner}));
  EXPECT_EQ(rows.dilated(), (RowList{corner - 5, corner - 4, corner - 1, corner}));
  EXPECT_EQ(rows.rim(), (RowList{corner - 5, corner - 4, corner - 1}));
}

TEST(Rows, WindowsOfStrideTwoStayInsideTheirImage) {
  const Grid from{2, {5, 4}}, to{2, {3, 2}};
  const RowList windows = neighbour_rows(from, to, 2), centres = strided_rows(from, to, 2);
  ASSERT_EQ(windows.size(), size_t(to.rows()) * 9);
  for (int32_t row = 0; row < to.rows(); ++row) {
    EXPECT_EQ(windows[size_t(row) * 9 + 4], centres[size_t(row)]);
    for (size_t tap = 0; tap < 9; ++tap) {
      const int32_t found = windows[size_t(row) * 9 + tap];
      EXPECT_TRUE(found == from.zero_row() || from.image_of(found) == to.image_of(row));
    }
  }
  // The last position of the second image: its window ends below the image.
  const RowList last(windows.end() - 9, windows.end());
  EXPECT_EQ(last, (RowList{20 + 13, 20 + 14, 20 + 15, 20 + 17, 20 + 18, 20 + 19, 40, 40, 40}));
}

TEST(BorderedRows, HaveEachNeighbourAtOneDistanceAndZerosOutside) {
  for (const Grid& grid : {Grid{1, {7, 9}}, Grid{3, {4, 5}}, Grid{2, {1, 1}}}) {
    const BorderedRows bordered{grid};
    const RowList places = bordered.all(), border = bordered.border();
    ASSERT_EQ(places.size() + border.size(), size_t(bordered.rows()));
    const RowList plain = neighbour_rows(grid, grid, 1), found = neighbour_rows(bordered, grid, 1);
    for (int row = 0; row < grid.rows(); ++row) {
      for (int tap = 0; tap < 9; ++tap) {
        const int32_t neighbour = plain[size_t(row * 9 + tap)],
                      place = found[size_t(row * 9 + tap)];
        EXPECT_EQ(place - places[size_t(row)], found[size_t(tap)] - places[0]);
        if (neighbour == grid.zero_row()) {
          EXPECT_TRUE(std::find(border.begin(), border.end(), place) != border.end());
        } else {
          EXPECT_EQ(place, places[size_t(neighbour)]);
        }
      }
    }
  }
}

TEST(BorderedRows, StridedWindowsAreThoseOfThePlainGrid) {
  const Grid from{2, {7, 8}}, to{2, {4, 4}};
  const BorderedRows bordered{from};
  const RowList places = bordered.all(), border = bordered.border();
  const RowList plain = neighbour_rows(from, to, 2), found = neighbour_rows(bordered, to, 2);
  ASSERT_EQ(plain.size(), found.size());
  for (size_t i = 0; i < plain.size(); ++i) {
    if (plain[i] == from.zero_row()) {
      EXPECT_TRUE(std::find(border.begin(), border.end(), found[i]) != border.end());
    } else {
      EXPECT_EQ(found[i], places[size_t(plain[i])]);
    }
  }
}

}  // namespace
}  // namespace sact::engine
