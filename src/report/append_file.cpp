// Appending with plain system calls: no buffer of ours that a killed process could lose.
#include "report/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"

namespace sact::report {

AppendFile::AppendFile(std::filesystem::path path, Mode mode) : path_(std::move(path)) {
  const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_CREAT;
  descriptor_ = ::open(path_.c_str(), mode == Mode::kCreate ? flags | O_EXCL : flags, 0666);
  if (descriptor_ < 0) {
    fail("{}: cannot be written: {}", path_.string(),
         errno == ELOOP ? "it is a link, which is not followed; remove it" : errno_text(errno));
  }
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    fail("{}: cannot be written: is not a regular file", path_.string());
  }
}

AppendFile::~AppendFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

void AppendFile::append(std::string_view bytes) {
  SACT_ASSERT(descriptor_ >= 0);
  const off_t size_before = ::lseek(descriptor_, 0, SEEK_END);
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const int problem = errno;
      const bool undone = ::ftruncate(descriptor_, size_before) == 0;
      fail("{}: cannot be written: {}{}", path_.string(), errno_text(problem),
           undone ? "" : "; its last record is incomplete");
    }
    bytes.remove_prefix(size_t(put));
  }
}

}  // namespace sact::report
