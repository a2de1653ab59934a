// CSV files (RFC 4180): logs that grow row by row, and reading them back as numbers.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/append_file.h"

namespace sact::report {

/// One row with its line end; fields with commas, quotes or line ends are quoted.
std::string csv_row(const std::vector<std::string>& fields);

/// Goes through the rows of a CSV text, which must outlive it. Accepts "\n" and "\r\n", a byte
/// order mark, and a last row without line end; passes over empty lines.
class CsvParser {
 public:
  /// `name` is used in messages.
  CsvParser(std::string_view text, std::string name);

  /// The next row in `fields`; false when there is none. Throws sact::Error for misplaced quotes.
  bool next(std::vector<std::string>& fields);

  /// The line on which the row that next() gave starts, from 1.
  size_t line() const { return row_line_; }
  /// Whether that row had a line end.
  bool complete() const { return complete_; }
  /// How many bytes of the text have been read.
  size_t position() const { return position_; }

 private:
  std::string quoted_field();
  std::string plain_field();
  bool end_of_line();

  std::string_view text_;
  std::string name_;
  size_t position_ = 0, line_ = 1, row_line_ = 0;
  bool complete_ = false;
};

struct CsvColumns {
  std::vector<std::string> names;
  std::vector<std::vector<double>> values;  // by column; all of the same length

  size_t rows() const { return values.empty() ? 0 : values[0].size(); }
  /// The values of the column of that name, or null.
  const std::vector<double>* find(std::string_view name) const;
};

/// Reads a file of numbers under a header. Empty fields become NaN. A last row that lacks fields
/// and its line end, as a log has it while it is being written, is left out; anything else that is
/// not a table of numbers is a sact::Error.
CsvColumns read_csv(const std::filesystem::path& path);
CsvColumns parse_csv(std::string_view text, const std::string& name);

/// A log of numbers. The first column orders the rows: an epoch or a step.
class CsvLog {
 public:
  /// Starts the file with its header, or continues one that has the same header. A file that lacks
  /// columns, as one of an earlier version may, gets them with empty fields. With `last_kept`,
  /// rows whose first column is above it are removed: a run that goes on from step 500 writes the
  /// later rows again. A row that a killed process left incomplete is removed in any case.
  CsvLog(const std::filesystem::path& path, std::vector<std::string> columns,
         std::optional<double> last_kept = std::nullopt);

  /// One value per column, the first of them finite; NaN is written as an empty field. The row is
  /// in the file when this returns.
  void append(std::span<const double> values);

 private:
  std::vector<std::string> columns_;
  AppendFile file_;
};

}  // namespace sact::report
