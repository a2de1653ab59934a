#include "cli/interrupt.h"

#include <csignal>

namespace sact::cli {
namespace {

volatile std::sig_atomic_t first_signal = 0;

void note_interrupt(int signal) {
  first_signal = signal;
  std::signal(SIGINT, SIG_DFL);  // the next one, whichever it is, is not caught
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

void catch_interrupts() {
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
