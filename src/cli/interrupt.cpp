#include "cli/interrupt.h"

#include <csignal>

namespace sact::cli {
namespace {

volatile std::sig_atomic_t interrupts = 0;

void note_interrupt(int signal) {
  interrupts = interrupts + 1;
  std::signal(signal, SIG_DFL);  // the next one is not caught
}

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, note_interrupt);
  std::signal(SIGTERM, note_interrupt);
}

bool was_interrupted() {
  return interrupts > 0;
}

}  // namespace sact::cli
