// A table whose rows are printed one by one, as soon as they are known: all columns have their
// width from the start.
#pragma once

#include <string>
#include <vector>

namespace sact::cli {

class StreamedTable {
 public:
  struct Column {
    std::string name;
    size_t width;       // at least
    bool text = false;  // stands at the left, numbers at the right
    int spare = 0;      // above 0: left out where there is no room, the highest first
  };
  explicit StreamedTable(std::vector<Column> columns);

  /// Makes room for what will stand in a column; a very long text pushes its row to the right
  /// instead, unless the table is made to fit.
  void widen(size_t column, const std::string& text);

  /// From now on no row is wider than this, if that can be: columns of text become narrower, the
  /// widest first, and what does not fit is left out in the middle; then columns that can be spared
  /// are left out. Numbers are never cut. 0: no limit.
  void fit(size_t width);

  /// The names of the columns and the rule under them.
  std::string header() const;
  std::string row(const std::vector<std::string>& cells) const;

 private:
  /// Makes text narrower; false when that is not enough.
  bool narrow(size_t width);

  std::vector<Column> columns_;
  std::vector<bool> shown_;
  bool fits_ = false;
};

/// A path as a cell of a table.
std::string path_cell(const std::string& path);

}  // namespace sact::cli
