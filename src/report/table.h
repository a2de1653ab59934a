// Tables of text, for the terminal, for Markdown and as CSV.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sact::report {

enum class ColumnAlign { kByContent, kLeft, kRight };

struct Table {
  std::vector<std::string> header;             // may be empty when there are rows
  std::vector<std::vector<std::string>> rows;  // short ones are filled up with empty cells
  std::vector<ColumnAlign> align;              // kByContent for columns that it does not reach

  /// The cells of the longest row, the header counted.
  size_t columns() const;

  /// Whether the column is set to the right: as `align` says, or because it holds nothing but
  /// numbers ("76.4", "2.1 ± 0.3", "15 602", "224×224", "n/a" and empty cells too).
  bool right_aligned(size_t column) const;
};

/// Whether the text is a number, a size or a number with its spread; units make it text.
bool looks_like_number(std::string_view text);

/// Columns in line, two spaces between them, and a rule under the header. Every line ends in '\n'.
std::string to_text(const Table& table);

/// A table as GitHub shows it, readable as plain text too. '|', '<' and line ends are escaped.
std::string to_markdown(const Table& table);

/// The cells as a CSV file (RFC 4180, with '\n' as line end).
std::string to_csv(const Table& table);

}  // namespace sact::report
