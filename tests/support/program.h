// Running programs from a test: `sact` as a user would, and several processes that work together.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/temporary.h"

namespace sact::test {

struct Finished {
  int status = -1;  // exit status; 128 + signal when it was killed
  std::string out, err;
};

struct Command {
  std::string program;
  std::vector<std::string> arguments = {};
  std::vector<std::string> environment = {};  // "NAME=VALUE", added to that of the test
  std::string directory = ".";
  uint64_t max_file_bytes = 0;    // larger files cannot be written, as on a full disk; 0: no limit
  uint64_t max_memory_bytes = 0;  // addresses that it may have; 0: no limit
};

/// A program that runs, without a shell, while the test goes on.
class Running {
 public:
  explicit Running(const Command& command);
  ~Running();  // kills it if it still runs
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void send(int signal);
  bool ended() const;
  Finished wait();

 private:
  TemporaryDirectory scratch_;
  pid_t child_ = -1;
};

/// A port on the loopback device that was free a moment ago.
int free_port();

/// Starts one process for each list of arguments, with RANK, WORLD_SIZE and so on in the
/// environment, and waits for all.
std::vector<Finished> run_together(const std::string& program,
                                   const std::vector<std::vector<std::string>>& arguments);

/// The environment of one of several processes on this machine.
std::vector<std::string> worker_environment(int rank, int size, int port);

#ifdef SACT_PROGRAM
/// Runs build/sact with these arguments in `directory`.
Finished run_sact(const std::vector<std::string>& arguments, const std::string& directory = ".");
#endif

}  // namespace sact::test
