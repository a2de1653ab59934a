#include "cli/interrupt.h"

#include <unistd.h>

#include <csignal>

namespace sact::cli {
namespace {

volatile std::sig_atomic_t first_signal = 0;
volatile std::sig_atomic_t at_terminal = 0;

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
  return 128 + (was_interrupted() ? first_signal : SIGINT);
}

}  // namespace sact::cli
