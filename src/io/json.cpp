#include "io/json.h"

#include <array>
#include <utility>

#include "base/error.h"
#include "io/json_numbers.h"

namespace sact::io {

namespace {

constexpr size_t kDepthLimit = 64;

/// Calls `take` with every bracket, comma and colon outside of strings, until that returns false.
template <typename Take>
void for_each_mark(std::string_view json_text, const Take& take) {
  bool in_string = false;
  for (size_t i = 0; i < json_text.size(); ++i) {
    const char c = json_text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[' || c == '}' || c == ']' || c == ',' || c == ':') {
      if (!take(c)) return;
    }
  }
}

/// Refuses what would take far more memory or time than the text has bytes. A value takes about 80
/// bytes in a tree, and an object compares a new key with all that it has.
void check_size_of_tree(std::string_view text, const std::string& name) {
  constexpr size_t kMostValues = 2'000'000, kMostComparisons = 500'000'000;
  size_t values = 0, comparisons = 0, depth = 0;
  std::array<size_t, kDepthLimit + 1> keys{};  // of the object at that depth
  for_each_mark(text, [&](char c) {
    if (c == '{' || c == '[') keys[++depth] = 0;
    if ((c == '}' || c == ']') && depth > 0) --depth;
    if (c == ':') comparisons += keys[depth]++;
    values += c == '{' || c == '[' || c == ',';
    return values <= kMostValues && comparisons <= kMostComparisons;
  });
  if (values > kMostValues) {
    fail("{}: is JSON of more than {} values, which is absurdly many here", name, kMostValues);
  }
  if (comparisons > kMostComparisons) {
    fail("{}: is JSON with an object of absurdly many keys", name);
  }
}

}  // namespace

bool nests_deeper_than(std::string_view json_text, size_t limit) {
  size_t depth = 0;
  for_each_mark(json_text, [&](char c) {
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && depth > 0) --depth;
    return depth <= limit;
  });
  return depth > limit;
}

Json parse_json(std::string_view text, const std::string& name) {
  if (nests_deeper_than(text, kDepthLimit)) {
    fail("{}: JSON nests deeper than {} levels", name, kDepthLimit);
  }
  check_size_of_tree(text, name);
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    if (error.byte > text.size()) fail("{}: is not valid JSON: it ends too early", name);
    fail("{}: is not valid JSON (near byte {} of {})", name, error.byte, text.size());
  } catch (const Json::exception& error) {  // a number that no type can hold
    fail("{}: is not usable JSON: {}", name, printable(error.what()));
  }
}

std::optional<int> int_of(const Json& json) {
  if (!json.is_number_integer()) return std::nullopt;
  const bool fits = json.is_number_unsigned() ? std::in_range<int>(json.get<uint64_t>())
                                              : std::in_range<int>(json.get<int64_t>());
  return fits ? std::optional(json.get<int>()) : std::nullopt;
}

std::string dump_json(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sact::io
