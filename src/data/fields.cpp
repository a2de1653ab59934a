// Lines, trimmed text and numbers of small text files.
#include "data/fields.h"

#include <cmath>

#include "base/error.h"
#include "base/file.h"

namespace sact::data {
namespace {

template <typename Number>
std::optional<Number> parse_whole(std::string_view text) {
  text = trimmed(text);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n\f\v";
  const size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

std::vector<std::string> read_lines(const std::filesystem::path& path, uint64_t max_bytes) {
  const auto bytes = read_file(path, max_bytes);
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<std::string> read_filled_lines(const std::filesystem::path& path, uint64_t max_bytes) {
  std::vector<std::string> filled;
  for (const std::string& line : read_lines(path, max_bytes)) {
    if (!trimmed(line).empty()) filled.emplace_back(trimmed(line));
  }
  return filled;
}

std::optional<double> parse_number(std::string_view text) {
  const auto value = parse_whole<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<int64_t> parse_integer(std::string_view text) {
  return parse_whole<int64_t>(text);
}

std::string listed(const std::vector<std::string>& names, size_t most) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i == most) return text + ", ...";
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += printable(names[i], 60);
  }
  return text;
}

}  // namespace sact::data
