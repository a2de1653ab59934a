// JSON that came from a file: parsed with limits, and with errors a person can act on.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace sact::io {

/// Keeps the order of keys, so that what we write reads in the order we meant.
using Json = nlohmann::ordered_json;

/// Parses `text`; `name` says in messages where it came from. Refuses nesting deeper than 64, which
/// no file of ours has and which could exhaust memory or the stack.
Json parse_json(std::string_view text, const std::string& name);

/// Whether brackets nest deeper than `limit` anywhere outside of strings.
bool nests_deeper_than(std::string_view json_text, size_t limit);

/// One line, or indented when `indent` is not negative. Bytes that are not UTF-8 (file names may
/// have such) become U+FFFD instead of an exception.
std::string dump_json(const Json& json, int indent = -1);

}  // namespace sact::io
