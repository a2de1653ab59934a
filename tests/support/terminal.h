// Whether tests can make terminals of their own.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

namespace sact::test {

/// A bare root file system may have no pseudo terminals.
inline bool can_make_terminals() {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal >= 0) ::close(terminal);
  return terminal >= 0;
}

}  // namespace sact::test
