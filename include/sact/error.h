// The one exception that a user's mistake turns into.
#pragma once

#include <stdexcept>

namespace sact {

/// Thrown for anything a user can cause and mend: a bad file, a value out of range, shapes that do
/// not match. `what()` is one line that names the thing, what was expected, what was found and,
/// where there is something to do, what to do. A violated invariant of the library is not an Error;
/// it ends the program through an assertion. Visible even where the rest is compiled as hidden,
/// because it crosses the borders of shared libraries.
class __attribute__((visibility("default"))) Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace sact
