// Another program that runs the same network, measured beside ours.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <string>

#include "io/json.h"

namespace sact::measure {

/// The program says one line of JSON about itself when it is ready; then it gets lines "run K" on
/// its standard input and answers each with a line of K times in milliseconds, [1.5, 1.4, ...].
/// "quit" ends it.
class Peer {
 public:
  /// Runs `command` with the shell and waits until it is ready; sact::Error if it does not get so
  /// far.
  explicit Peer(const std::string& command);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// What it said about itself.
  const io::Json& about() const { return about_; }
  /// The time of one run, in milliseconds.
  double run();

 private:
  io::Json answer();

  std::string command_;
  pid_t process_ = -1;
  std::FILE *to_ = nullptr, *from_ = nullptr;
  io::Json about_;
};

}  // namespace sact::measure
