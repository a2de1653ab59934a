// Ctrl-C and SIGTERM as a question that long work asks.
#pragma once

namespace sact::cli {

/// From now on the first SIGINT or SIGTERM only sets a flag; a second one ends the program at once.
void catch_interrupts();

/// Whether one has come.
bool was_interrupted();

/// The exit status of a program that ends because of it: 128 and the signal's number, as shells
/// have it; that of SIGINT when another process was asked to stop and this one follows.
int interrupted_status();

}  // namespace sact::cli
