#include "io/json_records.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "io/json.h"

namespace sact::io {

std::string JsonRecord::where() const {
  return fmt::format("{}: {}[{}]", *file_, list_->name, index_);
}

const JsonRecord::Value& JsonRecord::value(std::string_view field) const {
  const auto found = std::find(list_->fields.begin(), list_->fields.end(), field);
  SACT_ASSERT(found != list_->fields.end());
  return values_[size_t(found - list_->fields.begin())];
}

std::string JsonRecord::described(const Value& value) {
  switch (value.kind) {
    case Kind::kMissing:
      return "it is missing";
    case Kind::kNull:
      return "it is null";
    case Kind::kBoolean:
      return value.integer ? "it is true" : "it is false";
    case Kind::kInteger:
      return fmt::format("it is {}", value.integer);
    case Kind::kNumber:
      return fmt::format("it is {:g}", value.number);
    case Kind::kText:
      return fmt::format("it is the text '{}'", printable(value.text, 40));
    case Kind::kNumbers:
      return fmt::format("it is a list of {}", value.count);
    case Kind::kList:
      return "it is a list of something else";
    case Kind::kObject:
      return "it is an object";
  }
  return {};
}

void JsonRecord::refuse(std::string_view field, std::string_view wanted) const {
  fail("{}: '{}' must be {}; {}", where(), field, wanted, described(value(field)));
}

bool JsonRecord::has(std::string_view field) const {
  const Kind kind = value(field).kind;
  return kind != Kind::kMissing && kind != Kind::kNull;
}

int64_t JsonRecord::integer(std::string_view field) const {
  const Value& found = value(field);
  if (found.kind == Kind::kInteger) return found.integer;
  constexpr double kExact = 9007199254740992;  // whole numbers are exact up to 2^53
  if (found.kind == Kind::kNumber && std::abs(found.number) <= kExact &&
      found.number == std::floor(found.number)) {
    return int64_t(found.number);
  }
  refuse(field, "a whole number");
}

double JsonRecord::number(std::string_view field) const {
  const Value& found = value(field);
  if (found.kind != Kind::kInteger && found.kind != Kind::kNumber) refuse(field, "a number");
  return found.number;
}

bool JsonRecord::flag(std::string_view field) const {
  const Value& found = value(field);
  if (found.kind == Kind::kBoolean) return found.integer != 0;
  if (found.kind == Kind::kInteger && (found.integer == 0 || found.integer == 1)) {
    return found.integer == 1;
  }
  refuse(field, "0 or 1");
}

const std::string& JsonRecord::text(std::string_view field) const {
  const Value& found = value(field);
  if (found.kind != Kind::kText) refuse(field, "text");
  return found.text;
}

std::array<double, 4> JsonRecord::four_numbers(std::string_view field) const {
  const Value& found = value(field);
  if (found.kind != Kind::kNumbers || found.count != found.numbers.size()) {
    refuse(field, "a list of four numbers");
  }
  return found.numbers;
}

/// Receives the parser's events. `depth_` counts the open brackets; lists lie at one depth, their
/// objects in the next, the values of their fields in the one after that.
class RecordReader {
 public:
  using Kind = JsonRecord::Kind;
  using Value = JsonRecord::Value;
  using Take = std::function<void(size_t, const JsonRecord&)>;

  RecordReader(std::string_view text, const std::string& name, std::span<const JsonList> lists,
               const Take& take)
      : text_(text), name_(name), lists_(lists), take_(take), seen_(lists.size()) {
    file_is_list_ = lists.size() == 1 && lists.front().name.empty();
    list_depth_ = file_is_list_ ? 1 : 2;
    record_.file_ = &name_;
  }

  void check_complete() const {
    for (size_t i = 0; i < lists_.size(); ++i) {
      if (!seen_[i]) fail("{}: has no list '{}'", name_, lists_[i].name);
    }
  }

  // The parser's interface.
  bool null() { return scalar({.kind = Kind::kNull}); }
  bool boolean(bool value) { return scalar({.kind = Kind::kBoolean, .integer = value}); }
  bool number_integer(int64_t value) {
    return number({.kind = Kind::kInteger, .integer = value, .number = double(value)});
  }
  bool number_unsigned(uint64_t value) {
    if (value <= uint64_t(INT64_MAX)) return number_integer(int64_t(value));
    return number({.kind = Kind::kNumber, .number = double(value)});
  }
  bool number_float(double value, const std::string&) {
    return number({.kind = Kind::kNumber, .number = value});
  }
  bool string(std::string& value) {
    if (in_field()) {
      Value& field = record_.values_[size_t(field_)];
      field.kind = Kind::kText;
      field.text.swap(value);
      return true;
    }
    return scalar({.kind = Kind::kText});
  }
  bool binary(const std::vector<uint8_t>&) { return false; }  // JSON text has none
  bool start_object(size_t) { return open(Kind::kObject); }
  bool start_array(size_t) { return open(Kind::kNumbers); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& key);
  template <typename Exception>
  bool parse_error(size_t position, const std::string& token, const Exception& error);

 private:
  bool in_list() const { return list_ >= 0 && depth_ >= list_depth_; }
  bool in_field() const { return in_list() && depth_ == list_depth_ + 1 && field_ >= 0; }
  bool in_numbers() const {
    return in_list() && depth_ == list_depth_ + 2 && field_ >= 0 &&
           record_.values_[size_t(field_)].kind == Kind::kNumbers;
  }
  std::string place() const {
    return in_list() ? fmt::format(" in {}[{}]", lists_[size_t(list_)].name, index_) : "";
  }

  void check_outermost(Kind kind) const {
    const Kind wanted = file_is_list_ ? Kind::kNumbers : Kind::kObject;
    if (depth_ == 0 && kind != wanted) {
      fail("{}: must be {}", name_, file_is_list_ ? "a list of objects" : "an object with lists");
    }
  }

  /// What stands where a list, or an object of a list, must be.
  void check_list(Kind kind) const {
    if (list_ < 0) return;
    if (depth_ == list_depth_ - 1 && kind != Kind::kNumbers) {
      fail("{}: '{}' must be a list", name_, lists_[size_t(list_)].name);
    }
    if (depth_ == list_depth_ && kind != Kind::kObject) {
      fail("{}: {}[{}] must be an object", name_, lists_[size_t(list_)].name, index_);
    }
  }

  bool scalar(const Value& value) {
    check_outermost(value.kind);
    check_list(value.kind);
    if (in_field()) record_.values_[size_t(field_)] = value;
    if (in_numbers()) record_.values_[size_t(field_)].kind = Kind::kList;
    return true;
  }

  bool number(const Value& value) {
    if (!in_numbers()) return scalar(value);
    Value& field = record_.values_[size_t(field_)];
    if (field.count < field.numbers.size()) field.numbers[field.count] = value.number;
    ++field.count;
    return true;
  }

  bool open(Kind kind);
  bool close();
  void begin_list(size_t list);
  void begin_record();

  std::string_view text_;
  const std::string& name_;
  std::span<const JsonList> lists_;
  const Take& take_;
  std::vector<bool> seen_;  // lists
  bool file_is_list_ = false;
  int depth_ = 0, list_depth_ = 0;
  int list_ = -1;   // the list that the last key at its depth named, or none
  int field_ = -1;  // the same for fields of an object
  size_t index_ = 0;
  JsonRecord record_;
};

bool RecordReader::key(std::string& key) {
  if (!file_is_list_ && depth_ == 1) {
    const auto found = std::find_if(lists_.begin(), lists_.end(),
                                    [&key](const JsonList& list) { return list.name == key; });
    list_ = found == lists_.end() ? -1 : int(found - lists_.begin());
  } else if (in_list() && depth_ == list_depth_ + 1) {
    const auto& fields = record_.list_->fields;
    const auto found = std::find(fields.begin(), fields.end(), key);
    field_ = found == fields.end() ? -1 : int(found - fields.begin());
  }
  return true;
}

void RecordReader::begin_list(size_t list) {
  if (seen_[list]) fail("{}: has the list '{}' twice", name_, lists_[list].name);
  seen_[list] = true;
  record_.list_ = &lists_[list];
  record_.values_.assign(lists_[list].fields.size(), {});
  index_ = 0;
}

void RecordReader::begin_record() {
  record_.index_ = index_;
  for (Value& value : record_.values_) {
    value.kind = Kind::kMissing;
    value.count = 0;
  }
  field_ = -1;
}

bool RecordReader::open(Kind kind) {
  constexpr int kDepthLimit = 64;
  if (depth_ == kDepthLimit) fail("{}: JSON nests deeper than {} levels", name_, kDepthLimit);
  check_outermost(kind);
  if (file_is_list_ && depth_ == 0) list_ = 0;
  check_list(kind);
  if (in_field()) {
    record_.values_[size_t(field_)].kind = kind;
    record_.values_[size_t(field_)].count = 0;
  }
  if (in_numbers()) record_.values_[size_t(field_)].kind = Kind::kList;
  if (list_ >= 0 && depth_ == list_depth_ - 1) begin_list(size_t(list_));
  if (list_ >= 0 && depth_ == list_depth_) begin_record();
  ++depth_;
  return true;
}

bool RecordReader::close() {
  --depth_;
  if (list_ >= 0 && depth_ == list_depth_) {
    take_(size_t(list_), record_);
    ++index_;
  }
  return true;
}

template <typename Exception>
bool RecordReader::parse_error(size_t position, const std::string& token, const Exception& error) {
  constexpr int kNumberOutOfRange = 406;
  if (error.id == kNumberOutOfRange) {
    fail("{}: has a number that is too large{}: {}", name_, place(), printable(token, 40));
  }
  if (position > text_.size()) {
    fail("{}: is not valid JSON: it ends too early{}", name_, place());
  }
  const bool no_number = token.ends_with('N') || token.ends_with('I');
  fail("{}: is not valid JSON{} (near byte {} of {}){}", name_, place(), position, text_.size(),
       no_number ? "; JSON has no NaN and no infinity" : "");
}

void read_json_records(std::string_view text, const std::string& name,
                       std::span<const JsonList> lists, const RecordReader::Take& take) {
  RecordReader reader(text, name, lists, take);
  Json::sax_parse(text.begin(), text.end(), &reader);
  reader.check_complete();
}

}  // namespace sact::io
