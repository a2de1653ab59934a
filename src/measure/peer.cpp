#include "measure/peer.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/start.h"

extern char** environ;

namespace sact::measure {
namespace {

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail("a pipe cannot be opened: {}", errno_text(errno));
    read = ends[0];
    write = ends[1];
  }
};

}  // namespace

Peer::Peer(const std::string& command) : command_(command) {
  ::signal(SIGPIPE, SIG_IGN);  // a peer that has ended is found when it does not answer
  const Pipe input, output;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.read, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.write, STDOUT_FILENO);
  const std::string shell = "exec " + command_;
  const char* arguments[] = {"sh", "-c", shell.c_str(), nullptr};
  const int failure = ::posix_spawn(&process_, "/bin/sh", &actions, nullptr,
                                    const_cast<char* const*>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(input.read);
  ::close(output.write);
  to_ = ::fdopen(input.write, "w");
  from_ = ::fdopen(output.read, "r");
  if (failure != 0) fail("'{}' cannot be run: {}", printable(command_), no_process_text(failure));
  try {
    about_ = answer();
    if (!about_.is_object()) fail("'{}' did not say what it is", printable(command_));
  } catch (...) {
    std::fclose(to_);
    std::fclose(from_);
    ::waitpid(process_, nullptr, 0);
    throw;
  }
}

Peer::~Peer() {
  std::fputs("quit\n", to_);
  std::fclose(to_);
  std::fclose(from_);
  ::waitpid(process_, nullptr, 0);
}

io::Json Peer::answer() {
  std::string line;
  for (int c = std::fgetc(from_); c != EOF && c != '\n'; c = std::fgetc(from_)) line += char(c);
  if (line.empty()) fail("'{}' ended before it had answered", printable(command_));
  io::Json json = io::Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    fail("'{}' answered '{}', which is not JSON", printable(command_), printable(line, 80));
  }
  return json;
}

double Peer::run() {
  std::fputs("run 1\n", to_);
  std::fflush(to_);
  const io::Json times = answer();
  if (!times.is_array() || times.size() != 1 || !times[0].is_number()) {
    fail("'{}' answered '{}' instead of one time", printable(command_),
         printable(times.dump(), 80));
  }
  return times[0].get<double>();
}

}  // namespace sact::measure
