#include "base/error.h"

#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "base/unicode.h"

namespace sact {

std::string errno_text(int error_number) {
  return std::generic_category().message(error_number);
}

namespace {

bool continues_character(std::string_view text, size_t position) {
  return position < text.size() && (static_cast<unsigned char>(text[position]) & 0xc0) == 0x80;
}

constexpr int kMostContinuations = 3;  // of one character, in valid UTF-8

/// The last place not after `position`, and the first not before it, where a character begins.
size_t boundary_before(std::string_view text, size_t position) {
  for (int i = 0; i < kMostContinuations && continues_character(text, position); ++i) --position;
  return position;
}
size_t boundary_after(std::string_view text, size_t position) {
  for (int i = 0; i < kMostContinuations && continues_character(text, position); ++i) ++position;
  return position;
}

}  // namespace

std::string printable(std::string_view text, size_t max_length) {
  std::string out;
  out.reserve(std::min(text.size(), max_length) + 3);
  const bool cut = text.size() > max_length;
  const size_t half = max_length / 2;
  auto append = [&out](std::string_view part) {
    while (!part.empty()) {
      const size_t before = part.size();
      const char32_t character = next_character(part);
      const bool broken = character == kReplacementCharacter && before - part.size() == 1;
      broken || is_control(character) ? out.push_back('?') : append_utf8(out, character);
    }
  };
  if (!cut) {
    append(text);
    return out;
  }
  append(text.substr(0, boundary_before(text, half)));
  out += "...";
  append(text.substr(boundary_after(text, text.size() - (max_length - half))));
  return out;
}

std::string one_of(std::initializer_list<std::string_view> choices) {
  std::string out;
  size_t i = 0;
  for (std::string_view choice : choices) {
    if (i > 0) out += i + 1 == choices.size() ? " or " : ", ";
    out += choice;
    ++i;
  }
  return out;
}

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "sact: internal error: %s does not hold (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace sact
