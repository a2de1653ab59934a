// Long lists of small JSON objects, such as annotations of a data set: read one object at a time,
// so that a file of any length takes no more memory than what is kept of it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sact::io {

/// Which list of a file is read, and which fields of its objects.
struct JsonList {
  std::string name;  // its key in the outermost object; empty: the file itself is the list
  std::vector<std::string> fields;
};

/// One object of a list. Its members throw sact::Error with the object's place in the file when a
/// field is missing or of another type. Only fields that were asked for are known.
class JsonRecord {
 public:
  /// "FILE: annotations[17]".
  std::string where() const;
  size_t index() const { return index_; }

  /// Whether the field is there and not null.
  bool has(std::string_view field) const;
  /// A whole number; 3.0 is one too.
  int64_t integer(std::string_view field) const;
  double number(std::string_view field) const;
  /// true and false, 1 and 0.
  bool flag(std::string_view field) const;
  const std::string& text(std::string_view field) const;
  std::array<double, 4> four_numbers(std::string_view field) const;

 private:
  friend class RecordReader;
  enum class Kind { kMissing, kNull, kBoolean, kInteger, kNumber, kText, kNumbers, kList, kObject };
  struct Value {
    Kind kind = Kind::kMissing;
    int64_t integer = 0;  // of a boolean too
    double number = 0;
    std::string text = {};
    std::array<double, 4> numbers = {};  // the first of `count`
    size_t count = 0;
  };
  const Value& value(std::string_view field) const;
  [[noreturn]] void refuse(std::string_view field, std::string_view wanted) const;
  static std::string described(const Value& value);

  const std::string* file_ = nullptr;
  const JsonList* list_ = nullptr;
  size_t index_ = 0;
  std::vector<Value> values_;  // by field
};

/// Calls `take(list, record)` for every object of the lists, in the order of the file, which need
/// not be that of `lists`. `name` says in messages where the text came from. Throws sact::Error for
/// text that is not JSON, nests deeper than 64, lacks a list or has it twice, and for lists of
/// anything but objects.
void read_json_records(std::string_view text, const std::string& name,
                       std::span<const JsonList> lists,
                       const std::function<void(size_t list, const JsonRecord& record)>& take);

}  // namespace sact::io
