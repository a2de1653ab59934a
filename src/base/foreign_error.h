// Errors of other libraries, whose text was not made for a line.
#pragma once

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>

namespace sact {

/// What it says, without the list of calls and the advice that LibTorch puts below. Not cut at the
/// first line: a file name in the text may have line ends, and the reason stands behind it.
inline std::string message_of(const std::exception& error) {
  const std::string_view text = error.what();
  return std::string(text.substr(
      0, std::min(text.find("\nException raised from"), text.find("\nCUDA kernel errors might"))));
}

}  // namespace sact
