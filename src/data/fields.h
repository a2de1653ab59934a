// Cutting up the small text files that come with data sets: lines, trimmed text, numbers.
#pragma once

#include <charconv>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sact::data {

std::string_view trimmed(std::string_view text);

/// The lines of a text file without their ends (LF or CRLF) and without a byte order mark; refuses
/// files over `max_bytes`.
std::vector<std::string> read_lines(const std::filesystem::path& path, uint64_t max_bytes);

/// The lines of a text file that are not blank, without the spaces around them.
std::vector<std::string> read_filled_lines(const std::filesystem::path& path, uint64_t max_bytes);

/// The number that the whole text is, spaces around it aside; none for anything else, for numbers
/// out of the type's range and for infinities and NaN.
std::optional<double> parse_number(std::string_view text);
std::optional<int64_t> parse_integer(std::string_view text);

/// "a, b and c", at most `most` of them and then "..."; for messages.
std::string listed(const std::vector<std::string>& names, size_t most = 10);

}  // namespace sact::data
