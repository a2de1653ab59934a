// A square of coloured cells as SVG text: which of some things were taken for which.
#pragma once

#include <string>
#include <vector>

namespace sact::report {

struct HeatCell {
  int row = 0, column = 0;
  double value = 0;  // 0 to 1; light to dark
  std::string text;  // in the cell, where cells are large enough; keep it short
  std::string tip;   // shown when one points at it
};

struct HeatMap {
  std::string row_title, column_title;
  std::vector<std::string> names;  // of rows and columns alike
  std::vector<HeatCell> cells;     // those that are missing stay empty
};

/// More rows than this are too small to be told apart.
inline constexpr int kMaxHeatRows = 64;

/// A whole SVG element; long names are shortened. Up to kMaxHeatRows rows.
std::string to_svg(const HeatMap& map);

}  // namespace sact::report
