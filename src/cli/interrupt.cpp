#include "cli/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace sact::cli {
namespace {

// Any thread may ask; the handler runs in one of them.
std::atomic<int> first_signal = 0;
std::atomic<bool> at_terminal = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void note_interrupt(int signal) {
  first_signal = signal;
  constexpr char kNote[] =
      "\nstopping as soon as what is under way is done; once more stops at once\n";
  if (at_terminal) (void)!::write(STDERR_FILENO, kNote, sizeof kNote - 1);
  std::signal(SIGINT, SIG_DFL);  // the next one, whichever it is, is not caught
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

void catch_interrupts() {
  at_terminal = isatty(STDERR_FILENO) == 1;
  std::signal(SIGINT, note_interrupt);
  std::signal(SIGTERM, note_interrupt);
}

bool was_interrupted() {
  return first_signal != 0;
}

int interrupted_status() {
  return 128 + (was_interrupted() ? first_signal.load() : SIGINT);
}

}  // namespace sact::cli
