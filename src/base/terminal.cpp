#include "base/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace sact {
namespace {

constexpr int kUsualColumns = 80, kLeastColumns = 40, kMostColumns = 10'000;

/// What COLUMNS says; 0 when it says nothing that makes sense.
int columns_of_environment() {
  const char* text = std::getenv("COLUMNS");
  if (!text) return 0;
  const std::string_view digits(text);
  int columns = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), columns);
  const bool number = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
  return number ? std::clamp(columns, 0, kMostColumns) : 0;
}

}  // namespace

int columns_of_terminal(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int text_columns(int descriptor) {
  int columns = columns_of_environment();
  if (columns == 0) columns = columns_of_terminal(descriptor);
  return columns == 0 ? kUsualColumns : std::max(columns, kLeastColumns);
}

bool colour_wanted(int descriptor) {
  const char* refused = std::getenv("NO_COLOR");
  if (refused && *refused) return false;
  const char* terminal = std::getenv("TERM");
  return isatty(descriptor) == 1 && !(terminal && std::string_view(terminal) == "dumb");
}

std::string styled(std::string_view text, Style style, bool colour) {
  if (!colour) return std::string(text);
  const char* code = style == Style::kHeading ? "1" : style == Style::kError ? "1;31" : "33";
  return fmt::format("\033[{}m{}\033[0m", code, text);
}

}  // namespace sact
