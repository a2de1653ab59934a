// Leaving C libraries that report errors by a call that must not return (libjpeg, libpng).
#pragma once

#include <csetjmp>
#include <cstdio>
#include <type_traits>

namespace sact::io {

/// Where such a library is left to, and why. Throwing through C frames is undefined, so the way out
/// is longjmp, and that must not skip a destructor: `attempt` is the only frame that is jumped to,
/// and the steps between it and the library hold nothing but trivial objects.
struct Escape {
  std::jmp_buf target;
  char problem[256] = "";

  [[noreturn]] void leave(const char* why) {
    std::snprintf(problem, sizeof problem, "%s", why);
    std::longjmp(target, 1);
  }
};

/// Runs the step; false when it was left through the escape, whose `problem` then says why.
template <typename Step>
bool attempt(Escape& escape, Step step) {
  static_assert(std::is_trivially_destructible_v<Step>);
  if (setjmp(escape.target) != 0) return false;
  step();
  return true;
}

}  // namespace sact::io
