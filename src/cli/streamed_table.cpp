#include "cli/streamed_table.h"

#include <algorithm>

#include "base/error.h"
#include "report/unicode.h"

namespace sact::cli {
namespace {

constexpr size_t kWidestText = 40;
constexpr size_t kLongestPath = 1000;

}  // namespace

StreamedTable::StreamedTable(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_) column.width = std::max(column.width, column.name.size());
}

void StreamedTable::widen(size_t column, const std::string& text) {
  size_t& width = columns_[column].width;
  width = std::max(width, std::min(kWidestText, report::display_width(text)));
}

std::string StreamedTable::header() const {
  std::vector<std::string> names, rules;
  for (const Column& column : columns_) {
    names.push_back(column.name);
    rules.push_back(std::string(column.width, '-'));
  }
  return row(names) + '\n' + row(rules);
}

std::string StreamedTable::row(const std::vector<std::string>& cells) const {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    const size_t width = columns_[i].width, taken = report::display_width(cells[i]);
    const std::string space(width - std::min(width, taken), ' ');
    if (i > 0) line += "  ";
    line += columns_[i].text ? cells[i] + space : space + cells[i];
  }
  return line;
}

std::string path_cell(const std::string& path) {
  return printable(path, kLongestPath);
}

}  // namespace sact::cli
