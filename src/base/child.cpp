#include "base/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>

#include "base/error.h"

namespace sact {
namespace {

using Clock = std::chrono::steady_clock;

/// In front of what the child sends.
struct Header {
  bool failed = false;  // what follows is the text of an error
  uint64_t size = 0;
};

void write_all(int descriptor, const void* data, size_t size) {
  const char* rest = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(descriptor, rest, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(1);
    rest += written;
    size -= size_t(written);
  }
}

void send(int descriptor, bool failed, const void* data, size_t size) {
  const Header header{failed, size};
  write_all(descriptor, &header, sizeof header);
  write_all(descriptor, data, size);
}

void limit_memory(uint64_t more) {
  uint64_t pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%lu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  if (pages == 0) return;
  rlimit limit{};
  ::getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, pages * uint64_t(::getpagesize()) + more);
  ::setrlimit(RLIMIT_AS, &limit);
}

/// A crash shall leave neither a core file nor the C library's words about it.
void keep_quiet() {
  const rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);
  const int nowhere = ::open("/dev/null", O_WRONLY);
  if (nowhere < 0) return;
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
}

/// Ends with _exit: what the parent wanted done at its own end is not the child's to do.
[[noreturn]] void be_the_child(int descriptor, const ChildLimits& limits,
                               const std::function<std::vector<std::byte>()>& work) {
  keep_quiet();
  limit_memory(limits.memory);
  try {
    const std::vector<std::byte> result = work();
    send(descriptor, false, result.data(), result.size());
  } catch (const Error& error) {
    send(descriptor, true, error.what(), std::strlen(error.what()));
  } catch (const std::exception&) {
    // The parent sees that nothing was sent.
  }
  ::_exit(0);
}

/// The parent's end: the process and what comes from it.
class Child {
 public:
  Child(const std::function<std::vector<std::byte>()>& work, const ChildLimits& limits)
      : deadline_(Clock::now() + std::chrono::seconds(limits.seconds)) {
    // One at a time, so that no other child holds the writing end open.
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail("a pipe cannot be opened: {}", errno_text(errno));
    process_ = ::fork();
    if (process_ == 0) be_the_child(ends[1], limits, work);
    const int problem = errno;
    ::close(ends[1]);
    from_ = ends[0];
    if (process_ < 0) {
      ::close(from_);
      fail("a process cannot be started: {}", errno_text(problem));
    }
  }
  ~Child() {
    ::close(from_);
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// False when the child ended or its time was over before all had come.
  bool read(void* data, size_t size) {
    char* rest = static_cast<char*>(data);
    while (size > 0) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
      pollfd ready{from_, POLLIN, 0};
      const int count = left > 0 ? ::poll(&ready, 1, int(left)) : 0;
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      const ssize_t came = ::read(from_, rest, size);
      if (came < 0 && errno == EINTR) continue;
      if (came <= 0) return false;
      rest += came;
      size -= size_t(came);
    }
    return true;
  }

 private:
  Clock::time_point deadline_;
  pid_t process_ = -1;
  int from_ = -1;
};

}  // namespace

std::optional<std::vector<std::byte>> run_in_child(
    const std::function<std::vector<std::byte>()>& work, const ChildLimits& limits) {
  Child child(work, limits);
  Header header;
  if (!child.read(&header, sizeof header) || header.size > limits.memory) return std::nullopt;
  std::vector<std::byte> data(header.size);
  if (!child.read(data.data(), data.size())) return std::nullopt;
  if (header.failed) throw Error(std::string(reinterpret_cast<char*>(data.data()), data.size()));
  return data;
}

}  // namespace sact
