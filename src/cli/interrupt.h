// Ctrl-C and SIGTERM as a question that long work asks.
#pragma once

namespace sact::cli {

/// From now on the first SIGINT or SIGTERM only sets a flag; a second one ends the program at once.
void catch_interrupts();

/// Whether one has come.
bool was_interrupted();

}  // namespace sact::cli
