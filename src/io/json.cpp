#include "io/json.h"

#include <utility>

#include "base/error.h"
#include "io/json_numbers.h"

namespace sact::io {

bool nests_deeper_than(std::string_view json_text, size_t limit) {
  size_t depth = 0;
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
    } else if (c == '{' || c == '[') {
      if (++depth > limit) return true;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return false;
}

Json parse_json(std::string_view text, const std::string& name) {
  constexpr size_t kDepthLimit = 64;
  if (nests_deeper_than(text, kDepthLimit)) {
    fail("{}: JSON nests deeper than {} levels", name, kDepthLimit);
  }
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
