// Escaping for XML, for addresses, and base64.
#include "report/markup.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "base/unicode.h"

namespace sact::report {
namespace {

/// Characters that XML 1.0 cannot hold, not even escaped.
bool is_forbidden(char32_t character) {
  const bool control = character < 0x20 && character != '\t' && character != '\n';
  return control || character == 0xfffe || character == 0xffff;
}

bool is_plain_in_url(char c) {
  const bool letter_or_digit =
      (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return letter_or_digit || std::string_view("-._~/").find(c) != std::string_view::npos;
}

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const char32_t character = next_character(text);
    switch (character) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        append_utf8(out, is_forbidden(character) ? kReplacementCharacter : character);
    }
  }
  return out;
}

std::string relative_url(std::string_view path) {
  // Without "./" a name such as "step:12.png" would be read as an address with a scheme.
  std::string url = "./";
  for (const char c : path) {
    if (is_plain_in_url(c)) {
      url += c;
    } else {
      url += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return url;
}

std::string base64(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (k < count ? uint32_t(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) {
      out += k <= count ? kDigits[(group >> (18 - 6 * k)) & 63] : '=';
    }
  }
  return out;
}

std::string short_number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace sact::report
