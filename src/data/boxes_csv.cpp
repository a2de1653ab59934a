// Reading bounding boxes from a CSV table, with line numbers in every complaint.
#include "data/boxes_csv.h"

#include <array>
#include <optional>

#include "base/error.h"
#include "data/fields.h"

namespace sact::data {
namespace {

constexpr uint64_t kMaxBytes = uint64_t(1) << 30;
constexpr std::array<std::string_view, 7> kColumns = {"file", "x0",    "y0",    "x1",
                                                      "y1",   "width", "height"};
constexpr size_t kRequired = 5;

/// The fields of one line; a field in double quotes may hold commas and doubled quotes. Nothing
/// when a quote is left open.
std::optional<std::vector<std::string>> split_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[i++];
    } else if (c == '"' && (quoted || trimmed(fields.back()).empty())) {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  if (quoted) return std::nullopt;
  return fields;
}

class Table {
 public:
  explicit Table(const std::filesystem::path& path) : path_(path) {}

  std::unordered_map<std::string, Annotation> read() {
    const auto lines = read_lines(path_, kMaxBytes);
    std::unordered_map<std::string, Annotation> annotations;
    for (line_ = 1; line_ <= lines.size(); ++line_) {
      const std::string& line = lines[line_ - 1];
      if (trimmed(line).empty()) continue;
      const auto fields = split_fields(line);
      if (!fields) refuse("a quote is not closed");
      if (columns_ == 0) {
        read_header(*fields);
      } else {
        read_row(*fields, annotations);
      }
    }
    if (columns_ == 0) {
      fail("{}: is empty; its first line must name the columns file,x0,y0,x1,y1", path_.string());
    }
    return annotations;
  }

 private:
  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    fail("{} line {}: {}", path_.string(), line_, fmt::format(format, std::forward<Args>(args)...));
  }

  void read_header(const std::vector<std::string>& names) {
    columns_ = names.size();
    for (size_t column = 0; column < names.size(); ++column) {
      for (size_t known = 0; known < kColumns.size(); ++known) {
        if (trimmed(names[column]) != kColumns[known]) continue;
        if (where_[known]) refuse("the column {} is there twice", kColumns[known]);
        where_[known] = column;
      }
    }
    for (size_t known = 0; known < kRequired; ++known) {
      if (where_[known]) continue;
      refuse("there is no column {}; the first line must name the columns file,x0,y0,x1,y1",
             kColumns[known]);
    }
    if (where_[5].has_value() != where_[6].has_value()) {
      refuse("of the columns width and height only one is there; give both or none");
    }
  }

  double number(const std::vector<std::string>& fields, size_t known) const {
    const std::string& text = fields[*where_[known]];
    const auto value = parse_number(text);
    if (!value) refuse("{} must be a number, not '{}'", kColumns[known], printable(text, 40));
    return *value;
  }

  int side(const std::vector<std::string>& fields, size_t known) const {
    const std::string& text = fields[*where_[known]];
    const auto value = parse_integer(text);
    if (!value || *value < 1 || *value > 1'000'000) {
      refuse("{} must be a whole number of pixels, not '{}'", kColumns[known], printable(text, 40));
    }
    return int(*value);
  }

  void read_row(const std::vector<std::string>& fields,
                std::unordered_map<std::string, Annotation>& annotations) const {
    if (fields.size() != columns_) {
      refuse("has {} fields, but the first line names {} columns", fields.size(), columns_);
    }
    const std::filesystem::path file(trimmed(fields[*where_[0]]));
    if (file.empty()) refuse("the file is not named");
    const double x0 = number(fields, 1), y0 = number(fields, 2);
    const double x1 = number(fields, 3), y1 = number(fields, 4);
    std::string problem = box_problem(x0, y0, x1, y1);
    Annotation& annotation = annotations[file.lexically_normal().string()];
    if (where_[5]) {
      const Size size{side(fields, 6), side(fields, 5)};
      if (!annotation.boxes.empty() && annotation.image != size) {
        refuse("the image has another size here than in a row before");
      }
      annotation.image = size;
      if (x0 >= size.width || y0 >= size.height) problem = "it lies outside of its image";
    }
    if (!problem.empty())
      refuse("the box {:g},{:g},{:g},{:g} is wrong: {}", x0, y0, x1, y1, problem);
    annotation.boxes.push_back({float(x0), float(y0), float(x1), float(y1)});
  }

  std::filesystem::path path_;
  size_t line_ = 0, columns_ = 0;
  std::array<std::optional<size_t>, kColumns.size()> where_;
};

}  // namespace

std::unordered_map<std::string, Annotation> read_boxes_csv(const std::filesystem::path& path) {
  return Table(path).read();
}

}  // namespace sact::data
