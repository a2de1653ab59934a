#include "base/error.h"

#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace sact {

std::string errno_text(int error_number) {
  return std::generic_category().message(error_number);
}

std::string printable(std::string_view text, size_t max_length) {
  std::string out;
  out.reserve(std::min(text.size(), max_length) + 3);
  const bool cut = text.size() > max_length;
  const size_t head = cut ? max_length / 2 : text.size();
  auto append = [&out](std::string_view part) {
    for (unsigned char c : part) out += (c < 0x20 || c == 0x7f) ? '?' : static_cast<char>(c);
  };
  append(text.substr(0, head));
  if (cut) {
    out += "...";
    append(text.substr(text.size() - (max_length - head)));
  }
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
