#include "base/program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "base/start.h"

extern char** environ;

namespace sact {
namespace {

namespace fs = std::filesystem;

/// A process whose output can be read. Its destructor ends it and waits for it.
class Process {
 public:
  Process(const fs::path& program, const std::vector<std::string>& arguments) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail("a pipe cannot be opened: {}", errno_text(errno));
    from_ = ends[0];
    const int problem = start(program, arguments, ends[1]);
    ::close(ends[1]);
    if (problem != 0) {
      ::close(from_);
      fail("{}: cannot be run: {}", program.string(), no_process_text(problem));
    }
  }
  ~Process() {
    ::close(from_);
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      wait();
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// How many bytes came; 0 at the end.
  size_t read(std::byte* target, size_t size) {
    for (;;) {
      const ssize_t came = ::read(from_, target, size);
      if (came >= 0) return size_t(came);
      if (errno != EINTR) fail("the output of a program cannot be read: {}", errno_text(errno));
    }
  }

  std::optional<int> wait() {
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
    process_ = -1;
    return WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
  }

 private:
  int start(const fs::path& program, const std::vector<std::string>& arguments, int output) {
    std::vector<char*> words = {const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments)
      words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // a group of its own
    const int problem =
        ::posix_spawn(&process_, program.c_str(), &files, &attributes, words.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return problem;
  }

  pid_t process_ = -1;
  int from_ = -1;
};

}  // namespace

Finished run_program(const fs::path& program, const std::vector<std::string>& arguments,
                     size_t max_output) {
  constexpr size_t kPiece = 1 << 20;
  Process process(program, arguments);
  Finished finished;
  std::vector<std::byte> piece(std::min(kPiece, max_output + 1));
  while (const size_t came = process.read(piece.data(), piece.size())) {
    if (came > max_output - finished.output.size()) return {};
    finished.output.insert(finished.output.end(), piece.begin(), piece.begin() + long(came));
  }
  finished.status = process.wait();
  return finished;
}

}  // namespace sact
