// Column widths, alignment and the three ways of writing a table.
#include "report/table.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "base/unicode.h"
#include "report/csv.h"

namespace sact::report {
namespace {

/// Cells that say "nothing here" and leave the alignment to the others.
bool is_blank(std::string_view text) {
  constexpr std::string_view kBlanks[] = {"", "-", "–", "—", "−", "n/a", "nan", "NaN"};
  return std::find(std::begin(kBlanks), std::end(kBlanks), text) != std::end(kBlanks);
}

std::string_view cell(const std::vector<std::string>& row, size_t column) {
  return column < row.size() ? std::string_view(row[column]) : std::string_view();
}

using Cells = std::vector<std::string>;

/// Every cell rewritten, all rows of the same length.
Table rewritten(const Table& table, const std::function<std::string(std::string_view)>& write) {
  Table out;
  const auto rewrite = [&](const Cells& row) {
    Cells cells;
    for (size_t i = 0; i < table.columns(); ++i) cells.push_back(write(cell(row, i)));
    return cells;
  };
  out.header = rewrite(table.header);
  for (const Cells& row : table.rows) out.rows.push_back(rewrite(row));
  for (size_t i = 0; i < table.columns(); ++i) {
    out.align.push_back(table.right_aligned(i) ? ColumnAlign::kRight : ColumnAlign::kLeft);
  }
  return out;
}

std::vector<size_t> column_widths(const Table& table, size_t at_least) {
  std::vector<size_t> widths(table.columns(), at_least);
  const auto widen = [&widths](const Cells& row) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  };
  widen(table.header);
  for (const Cells& row : table.rows) widen(row);
  return widths;
}

std::string padded(std::string_view text, size_t width, bool right) {
  const std::string space(width - display_width(text), ' ');
  return right ? space + std::string(text) : std::string(text) + space;
}

/// The cells in line, with `separator` between them.
std::string joined(const Table& table, const Cells& row, const std::vector<size_t>& widths,
                   std::string_view separator) {
  std::string line;
  for (size_t i = 0; i < row.size(); ++i) {
    if (i > 0) line += separator;
    line += padded(row[i], widths[i], table.right_aligned(i));
  }
  return line;
}

std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : single_line(text)) {
    if (c == '|') out += '\\';
    out += c == '<' ? std::string("&lt;") : std::string(1, c);
  }
  return out;
}

}  // namespace

size_t Table::columns() const {
  size_t count = header.size();
  for (const Cells& row : rows) count = std::max(count, row.size());
  return count;
}

bool Table::right_aligned(size_t column) const {
  if (column < align.size() && align[column] != ColumnAlign::kByContent) {
    return align[column] == ColumnAlign::kRight;
  }
  bool any_number = false;
  for (const Cells& row : rows) {
    const std::string_view text = cell(row, column);
    if (is_blank(text)) continue;
    if (!looks_like_number(text)) return false;
    any_number = true;
  }
  return any_number;
}

bool looks_like_number(std::string_view text) {
  constexpr std::u32string_view kBetweenDigits = U" .,+-−±×%eE";
  bool any_digit = false;
  if (text == "inf" || text == "-inf") return true;
  if (text.starts_with('e') || text.starts_with('E')) return false;
  while (!text.empty()) {
    const char32_t character = next_character(text);
    const bool digit = character >= '0' && character <= '9';
    if (!digit && kBetweenDigits.find(character) == std::u32string_view::npos) return false;
    any_digit = any_digit || digit;
  }
  return any_digit;
}

std::string to_text(const Table& table) {
  const Table clean = rewritten(table, single_line);
  const std::vector<size_t> widths = column_widths(clean, 0);
  std::string out;
  const auto add_line = [&out](std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  };
  if (!table.header.empty()) {
    add_line(joined(clean, clean.header, widths, "  "));
    Cells rules;
    for (const size_t width : widths) rules.emplace_back(width, '-');
    add_line(joined(clean, rules, widths, "  "));
  }
  for (const Cells& row : clean.rows) add_line(joined(clean, row, widths, "  "));
  return out;
}

std::string to_markdown(const Table& table) {
  const Table clean = rewritten(table, markdown_cell);
  const std::vector<size_t> widths = column_widths(clean, 3);
  const auto line = [&](const Cells& row) {
    return "| " + joined(clean, row, widths, " | ") + " |\n";
  };
  Cells rules;
  for (size_t i = 0; i < widths.size(); ++i) {
    const std::string dashes(widths[i] - 1, '-');
    rules.push_back(clean.right_aligned(i) ? dashes + ':' : dashes + '-');
  }
  std::string out = line(clean.header) + line(rules);
  for (const Cells& row : clean.rows) out += line(row);
  return out;
}

std::string to_csv(const Table& table) {
  const Table full = rewritten(table, [](std::string_view text) { return std::string(text); });
  std::string out;
  if (!table.header.empty()) out += csv_row(full.header);
  for (const Cells& row : full.rows) out += csv_row(row);
  return out;
}

}  // namespace sact::report
