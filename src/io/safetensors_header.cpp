// A streaming reader: the header of a damaged file may be 100 MB of brackets, and a JSON tree of
// that would take gigabytes. It also sees a name that comes twice, which a tree would hide.
#include "io/safetensors_header.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/error.h"

namespace sact::io {
namespace {

std::optional<Dtype> dtype_from_name(std::string_view name) {
  for (int i = 0; i <= int(Dtype::kF64); ++i) {
    if (dtype_name(Dtype(i)) == name) return Dtype(i);
  }
  return std::nullopt;
}

/// Receives the parser's events. Where we are in the file is a small state; every event that does
/// not fit it is an error.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(const std::string& file_name) : file_name_(file_name) {}

  Header take() {
    if (!finished_) fail("{}: its header is not a JSON object", file_name_);
    return std::move(header_);
  }

  bool start_object(size_t) override {
    switch (state_) {
      case State::kUnknown:
        return enter();
      case State::kStart:
        state_ = State::kTop;
        return true;
      case State::kMetadataStart:
        state_ = State::kMetadata;
        return true;
      case State::kTensorStart:
        state_ = State::kTensor;
        return true;
      default:
        misplaced("an object");
    }
  }

  bool end_object() override {
    switch (state_) {
      case State::kUnknown:
        return leave();
      case State::kTop:
        finished_ = true;
        state_ = State::kEnd;
        return true;
      case State::kMetadata:
        state_ = State::kTop;
        return true;
      case State::kTensor:
        finish_tensor();
        state_ = State::kTop;
        return true;
      default:
        misplaced("the end of an object");
    }
  }

  bool key(string_t& key) override {
    switch (state_) {
      case State::kUnknown:
        return true;
      case State::kTop:
        begin_entry(key);
        return true;
      case State::kMetadata:
        metadata_key_ = key;
        state_ = State::kMetadataValue;
        return true;
      case State::kTensor:
        begin_field(key);
        return true;
      default:
        misplaced("a key");
    }
  }

  bool string(string_t& value) override {
    if (state_ == State::kUnknown) return pass_over();
    if (state_ == State::kMetadataValue) {
      if (!header_.metadata.emplace(metadata_key_, value).second) {
        fail("{}: metadata key '{}' comes twice", file_name_, printable(metadata_key_));
      }
      state_ = State::kMetadata;
      return true;
    }
    if (state_ == State::kDtype) {
      const auto dtype = dtype_from_name(value);
      if (!dtype) {
        fail("{}: tensor '{}' has the unknown type '{}'", file_name_, entry_name(),
             printable(value));
      }
      entry_.dtype = *dtype;
      state_ = State::kTensor;
      return true;
    }
    misplaced("a string");
  }

  bool start_array(size_t) override {
    if (state_ == State::kUnknown) return enter();
    if (state_ == State::kShapeStart) {
      state_ = State::kShape;
    } else if (state_ == State::kOffsetsStart) {
      state_ = State::kOffsets;
    } else {
      misplaced("an array");
    }
    return true;
  }

  bool end_array() override {
    if (state_ == State::kUnknown) return leave();
    if (state_ == State::kOffsets && offsets_seen_ != 2) {
      fail("{}: tensor '{}' has {} data offsets instead of 2", file_name_, entry_name(),
           offsets_seen_);
    }
    if (state_ != State::kOffsets && state_ != State::kShape) misplaced("the end of an array");
    state_ = State::kTensor;
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (state_ == State::kUnknown) return pass_over();
    if (state_ == State::kShape) {
      if (value > uint64_t(INT64_MAX)) {
        fail("{}: tensor '{}' has a dimension of {}", file_name_, entry_name(), value);
      }
      entry_.shape.push_back(int64_t(value));
      return true;
    }
    if (state_ == State::kOffsets) {
      if (offsets_seen_ == 0) entry_.begin = value;
      if (offsets_seen_ == 1) entry_.end = value;
      ++offsets_seen_;
      return true;
    }
    misplaced("a number");
  }

  bool number_integer(number_integer_t value) override {
    if (state_ == State::kUnknown) return pass_over();
    misplaced(fmt::format("the number {}", value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    if (state_ == State::kUnknown) return pass_over();
    misplaced(fmt::format("the number {}", printable(text, 40)));
  }
  bool null() override {
    if (state_ == State::kUnknown) return pass_over();
    misplaced("null");
  }
  bool boolean(bool) override {
    if (state_ == State::kUnknown) return pass_over();
    misplaced("true or false");
  }
  bool binary(binary_t&) override { misplaced("binary data"); }

  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) override {
    fail("{}: its header is not valid JSON (near byte {})", file_name_, position);
  }

 private:
  enum class State {
    kStart,
    kTop,
    kMetadataStart,
    kMetadata,
    kMetadataValue,
    kTensorStart,
    kTensor,
    kDtype,
    kShapeStart,
    kShape,
    kOffsetsStart,
    kOffsets,
    kUnknown,  // the value of a field that the format does not know, which is passed over
    kEnd
  };

  [[noreturn]] void misplaced(const std::string& what) const {
    const bool in_tensor = state_ >= State::kTensorStart && state_ < State::kEnd;
    fail("{}: its header has {} where {} is expected", file_name_, what,
         in_tensor ? fmt::format("the dtype, shape and data_offsets of tensor '{}'", entry_name())
         : state_ == State::kMetadataValue || state_ == State::kMetadataStart ||
                 state_ == State::kMetadata
             ? "metadata of strings"
             : "a table of tensors");
  }

  std::string entry_name() const { return printable(entry_.name); }

  void begin_entry(const std::string& key) {
    if (!names_.insert(key).second) {
      fail("{}: the name '{}' comes twice", file_name_, printable(key));
    }
    if (key == "__metadata__") {
      state_ = State::kMetadataStart;
      return;
    }
    entry_ = HeaderEntry{};
    entry_.name = key;
    has_dtype_ = has_shape_ = has_offsets_ = false;
    state_ = State::kTensorStart;
  }

  void begin_field(const std::string& key) {
    auto once = [&](bool& seen, State next) {
      if (seen) fail("{}: tensor '{}' has '{}' twice", file_name_, entry_name(), key);
      seen = true;
      state_ = next;
    };
    if (key == "dtype") {
      once(has_dtype_, State::kDtype);
    } else if (key == "shape") {
      once(has_shape_, State::kShapeStart);
    } else if (key == "data_offsets") {
      offsets_seen_ = 0;
      once(has_offsets_, State::kOffsetsStart);
    } else {
      state_ = State::kUnknown;  // as the format's own implementation does
    }
  }

  /// Inside an unknown field: arrays and objects that open and close, and values. The field ends
  /// with the value that lies in none of them.
  bool enter() {
    ++unknown_depth_;
    return true;
  }
  bool leave() {
    --unknown_depth_;
    return pass_over();
  }
  bool pass_over() {
    if (unknown_depth_ == 0) state_ = State::kTensor;
    return true;
  }

  void finish_tensor() {
    if (!has_dtype_ || !has_shape_ || !has_offsets_) {
      fail("{}: tensor '{}' has no {}", file_name_, entry_name(),
           !has_dtype_   ? "dtype"
           : !has_shape_ ? "shape"
                         : "data_offsets");
    }
    header_.entries.push_back(std::move(entry_));
  }

  const std::string& file_name_;
  Header header_;
  HeaderEntry entry_;
  std::string metadata_key_;
  std::set<std::string, std::less<>> names_;
  State state_ = State::kStart;
  int offsets_seen_ = 0;
  size_t unknown_depth_ = 0;
  bool has_dtype_ = false, has_shape_ = false, has_offsets_ = false, finished_ = false;
};

}  // namespace

Header parse_header(std::string_view text, const std::string& file_name) {
  HeaderReader reader(file_name);
  nlohmann::json::sax_parse(text, &reader);
  return reader.take();
}

}  // namespace sact::io
