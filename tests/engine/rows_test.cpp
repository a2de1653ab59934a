#include "engine/rows.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace sact::engine {
namespace {

TEST(ActiveRows, ListsAreWhatTheirNamesSayWhateverHalts) {
  Random random(3);
  ActiveRows rows;
  rows.reserve(200);
  for (const Grid& grid : {Grid{1, {1, 1}}, Grid{3, {1, 7}}, Grid{2, {9, 1}}, Grid{2, {2, 2}},
                           Grid{4, {7, 6}}, Grid{1, {5, 4}}}) {
    SCOPED_TRACE(grid.rows());
    const RowList neighbours = neighbour_rows(grid, grid, 1);
    rows.start(grid);
    EXPECT_EQ(rows.active().size(), size_t(grid.rows()));
    std::vector<bool> active(size_t(grid.rows()), true);
    while (!rows.active().empty()) {
      RowList kept, dilated, rim;
      for (int32_t row : rows.active()) {
        active[size_t(row)] = random.coin(0.7);
        rows.keep(row, active[size_t(row)]);
      }
      for (int32_t row = 0; row < grid.rows(); ++row) {
        const auto first = neighbours.begin() + row * 9;
        const bool near = std::any_of(first, first + 9, [&](int32_t neighbour) {
          return neighbour != grid.zero_row() && active[size_t(neighbour)];
        });
        if (active[size_t(row)]) kept.push_back(row);
        if (near) dilated.push_back(row);
        if (near && !active[size_t(row)]) rim.push_back(row);
      }
      rows.update();
      EXPECT_EQ(rows.active(), kept);
      EXPECT_EQ(rows.dilated(), dilated);
      EXPECT_EQ(rows.rim(), rim);
    }
  }
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

}  // namespace
}  // namespace sact::engine
