// Reading and writing CSV.
#include "report/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/error.h"
#include "base/file.h"

namespace sact::report {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t(1) << 28;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// NaN for an empty field, nothing for one that is not a number.
std::optional<double> number_in(std::string_view field) {
  constexpr std::string_view kSpace = " \t";
  const size_t first = field.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return std::numeric_limits<double>::quiet_NaN();
  field = field.substr(first, field.find_last_not_of(kSpace) + 1 - first);
  if (field.starts_with('+')) field.remove_prefix(1);
  double value = 0;
  const char* end = field.data() + field.size();
  const auto result = std::from_chars(field.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

/// Where each column stands in a file with the header `found`; `found.size()` for one that it
/// lacks. Nothing when the file has columns that are not among them.
std::optional<std::vector<size_t>> places_in(const std::vector<std::string>& found,
                                             const std::vector<std::string>& columns) {
  std::vector<size_t> places;
  size_t known = 0;
  for (const std::string& column : columns) {
    places.push_back(size_t(std::find(found.begin(), found.end(), column) - found.begin()));
    known += places.back() < found.size();
  }
  if (known != found.size()) return std::nullopt;
  return places;
}

/// The part of a log that stays: its header and the complete rows up to `last_kept`.
std::string kept_rows(std::string_view text, const std::string& name,
                      const std::vector<std::string>& columns, double last_kept) {
  std::string kept = csv_row(columns);
  if (kept.starts_with(text)) return kept;  // nothing yet, or killed while writing the header
  text = text.substr(0, text.rfind('\n') + 1);
  CsvParser parser(text, name);
  std::vector<std::string> header, fields;
  const auto places = parser.next(header) ? places_in(header, columns) : std::nullopt;
  if (!places || (*places)[0] != 0) {
    fail("{}: has the columns \"{}\" where \"{}\" are to be written; move it away or start anew",
         name, printable(fmt::format("{}", fmt::join(header, ", "))),
         printable(fmt::format("{}", fmt::join(columns, ", "))));
  }
  for (size_t begin = parser.position(); parser.next(fields); begin = parser.position()) {
    const std::optional<double> first = number_in(fields[0]);
    if (fields.size() != header.size() || !first) {
      fail("{}: line {} is not a row of {} numbers; mend it or move the file away", name,
           parser.line(), header.size());
    }
    if (*first > last_kept) continue;
    if (header == columns) {
      kept += text.substr(begin, parser.position() - begin);
      continue;
    }
    fields.emplace_back();  // for what the file lacks
    std::vector<std::string> row;
    for (const size_t place : *places) row.push_back(fields[place]);
    kept += csv_row(row);
  }
  return kept;
}

/// Makes the file ready for more rows, and gives it back open.
AppendFile open_log(const std::filesystem::path& path, const std::vector<std::string>& columns,
                    double last_kept) {
  SACT_ASSERT(!columns.empty());
  std::vector<std::byte> bytes;
  std::error_code ignored;  // what is wrong with the path shows when it is opened
  if (std::filesystem::exists(path, ignored)) bytes = read_file(path, kMaxFileBytes);
  const std::string kept = kept_rows(text_of(bytes), path.string(), columns, last_kept);
  if (kept != text_of(bytes)) write_file_atomically(path, kept);
  return AppendFile(path, AppendFile::Mode::kContinue);
}

}  // namespace

std::string csv_row(const std::vector<std::string>& fields) {
  std::string row;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) row += ',';
    const std::string& field = fields[i];
    // A lone empty field is quoted because an empty line is no row.
    const bool lone_empty = field.empty() && fields.size() == 1;
    if (field.find_first_of(",\"\r\n") == std::string::npos && !lone_empty) {
      row += field;
      continue;
    }
    row += '"';
    for (const char c : field) row += c == '"' ? std::string("\"\"") : std::string(1, c);
    row += '"';
  }
  return row + '\n';
}

CsvParser::CsvParser(std::string_view text, std::string name)
    : text_(text), name_(std::move(name)) {
  if (text_.starts_with("\xef\xbb\xbf")) position_ = 3;
}

bool CsvParser::next(std::vector<std::string>& fields) {
  fields.clear();
  while (position_ < text_.size() && end_of_line()) {
  }
  row_line_ = line_;
  complete_ = false;
  if (position_ == text_.size()) return false;
  while (true) {
    const bool quoted = position_ < text_.size() && text_[position_] == '"';
    fields.push_back(quoted ? quoted_field() : plain_field());
    if (position_ == text_.size()) return true;
    if (end_of_line()) {
      complete_ = true;
      return true;
    }
    if (text_[position_] != ',') {
      fail("{}: line {}: more text after a closing quote; quotes inside a field must be doubled",
           name_, line_);
    }
    ++position_;
  }
}

std::string CsvParser::quoted_field() {
  const size_t first_line = line_;
  std::string field;
  while (++position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '"') {
      ++position_;
      if (position_ == text_.size() || text_[position_] != '"') return field;
    }
    if (c == '\n') ++line_;
    field += c;
  }
  fail("{}: line {}: a quoted field has no closing quote", name_, first_line);
}

std::string CsvParser::plain_field() {
  const size_t begin = position_;
  position_ = std::min(text_.find_first_of(",\r\n", position_), text_.size());
  return std::string(text_.substr(begin, position_ - begin));
}

/// Takes a line end, where one stands. A lone "\r" counts as one too.
bool CsvParser::end_of_line() {
  if (text_[position_] != '\r' && text_[position_] != '\n') return false;
  position_ += text_.substr(position_).starts_with("\r\n") ? 2 : 1;
  ++line_;
  return true;
}

const std::vector<double>* CsvColumns::find(std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? nullptr : &values[size_t(found - names.begin())];
}

CsvColumns parse_csv(std::string_view text, const std::string& name) {
  CsvParser parser(text, name);
  CsvColumns columns;
  if (!parser.next(columns.names)) fail("{}: is empty; a header line is needed", name);
  columns.values.resize(columns.names.size());
  std::vector<std::string> fields;
  while (parser.next(fields)) {
    if (fields.size() < columns.names.size() && !parser.complete()) break;
    if (fields.size() != columns.names.size()) {
      fail("{}: line {} has {} fields where the header has {}", name, parser.line(), fields.size(),
           columns.names.size());
    }
    for (size_t i = 0; i < fields.size(); ++i) {
      const std::optional<double> value = number_in(fields[i]);
      if (!value) {
        fail("{}: line {}: \"{}\" in column \"{}\" is not a number that a double holds", name,
             parser.line(), printable(fields[i], 40), printable(columns.names[i], 40));
      }
      columns.values[i].push_back(*value);
    }
  }
  return columns;
}

CsvColumns read_csv(const std::filesystem::path& path) {
  return parse_csv(text_of(read_file(path, kMaxFileBytes)), path.string());
}

CsvLog::CsvLog(const std::filesystem::path& path, std::vector<std::string> columns,
               std::optional<double> last_kept)
    : columns_(std::move(columns)), file_(open_log(path, columns_, last_kept.value_or(HUGE_VAL))) {}

void CsvLog::append(std::span<const double> values) {
  SACT_ASSERT(values.size() == columns_.size() && std::isfinite(values[0]));
  std::string row;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) row += ',';
    if (!std::isnan(values[i])) row += fmt::format("{}", values[i]);  // the shortest exact form
  }
  file_.append(row + '\n');
}

}  // namespace sact::report
