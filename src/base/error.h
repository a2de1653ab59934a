// Raising user errors with formatted text, and checking our own invariants.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "sact/error.h"

namespace sact {

/// Throws sact::Error with a formatted one-line message.
template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

/// Thrown where work was given up because the user asked for that.
class Interrupted : public Error {
 public:
  using Error::Error;
};

/// The text of an errno value, for messages.
std::string errno_text(int error_number);

/// Makes text that came from a file safe to print on one line: control bytes become '?', long text
/// is cut in the middle, between two characters.
std::string printable(std::string_view text, size_t max_length = 120);

/// "an" list of the form "a, b or c", for messages that name what would have been accepted.
std::string one_of(std::initializer_list<std::string_view> choices);

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace sact

// Always on: these guard memory safety and cost nothing next to a convolution.
#define SACT_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::sact::assertion_failed(#condition, __FILE__, __LINE__))
