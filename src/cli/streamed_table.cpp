#include "cli/streamed_table.h"

#include <algorithm>

#include "base/error.h"
#include "base/unicode.h"

namespace sact::cli {
namespace {

constexpr size_t kWidestText = 120;
constexpr size_t kNarrowestText = 12;
constexpr size_t kLongestPath = 1000;
constexpr size_t kGap = 2;

}  // namespace

StreamedTable::StreamedTable(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_) column.width = std::max(column.width, column.name.size());
  shown_.assign(columns_.size(), true);
}

void StreamedTable::widen(size_t column, const std::string& text) {
  size_t& width = columns_[column].width;
  width = std::max(width, std::min(kWidestText, display_width(text)));
}

bool StreamedTable::narrow(size_t width) {
  size_t taken = 0;
  for (size_t i = 0; i < columns_.size(); ++i) taken += shown_[i] ? columns_[i].width + kGap : 0;
  taken -= kGap;
  for (; taken > width; --taken) {
    Column* widest = nullptr;
    for (Column& column : columns_) {
      if (column.text && (!widest || column.width > widest->width)) widest = &column;
    }
    if (!widest || widest->width <= kNarrowestText) return false;
    --widest->width;
  }
  return true;
}

void StreamedTable::fit(size_t width) {
  if (width == 0) return;
  fits_ = true;
  const std::vector<Column> wide = columns_;
  while (!narrow(width)) {
    size_t spare = columns_.size();
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (!shown_[i] || columns_[i].spare == 0) continue;
      if (spare == columns_.size() || columns_[i].spare > columns_[spare].spare) spare = i;
    }
    if (spare == columns_.size()) return;
    shown_[spare] = false;
    columns_ = wide;  // there is more room for text again
  }
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
    if (!shown_[i]) continue;
    const size_t width = columns_[i].width;
    const std::string clean = single_line(cells[i]);
    const std::string cell = fits_ && columns_[i].text ? cut_middle(clean, width) : clean;
    const std::string space(width - std::min(width, display_width(cell)), ' ');
    if (!line.empty()) line.append(kGap, ' ');
    line += columns_[i].text ? cell + space : space + cell;
  }
  return line;
}

std::string path_cell(const std::string& path) {
  return printable(path, kLongestPath);
}

}  // namespace sact::cli
