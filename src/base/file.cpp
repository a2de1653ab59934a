#include "base/file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

namespace sact {
namespace {

// Names of files that are not yet whole.
constexpr std::string_view kTemporaryPrefix = ".sact-", kTemporarySuffix = ".tmp";

std::filesystem::path directory_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// Whether names in this directory stand for what processes have open (/dev/stdout leads there).
bool names_open_files(const std::filesystem::path& directory) {
  struct statfs status {};
  return ::statfs(directory.c_str(), &status) == 0 && status.f_type == PROC_SUPER_MAGIC;
}

/// Throws unless nothing, a regular file or a link to one stands at `path`, which a rename may
/// replace.
void check_replaceable(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  constexpr int kMostLinks = 40;  // the system's own limit
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    fail("{}: cannot be written: it is {}; give the name of a file", path.string(),
         fs::is_directory(status) ? "a directory" : "not a regular file");
  }
  fs::path name = path;
  for (int links = 0; links < kMostLinks; ++links) {
    if (names_open_files(directory_of(name))) {
      fail("{}: cannot be written: it stands for an open file; give the name of a file",
           path.string());
    }
    if (!fs::is_symlink(name, error)) return;
    name = directory_of(name) / fs::read_symlink(name, error);
  }
}

constexpr size_t kLarge = size_t{4} << 20;

template <typename... Args>
[[noreturn]] void fail_to_read(fmt::format_string<Args...> format, Args&&... args) {
  throw UnreadableFile(fmt::format(format, std::forward<Args>(args)...));
}

/// A file may claim any size: a sparse one takes no disk.
void expect_memory_for(const std::filesystem::path& path, uint64_t size) {
  constexpr uint64_t kAlwaysThere = 32 << 20;
  if (size <= kAlwaysThere) return;
  if (const uint64_t available = available_memory(); size > available) {
    fail("{}: has {}, but there is {} of free memory here", path.string(), format_bytes(size),
         format_bytes(available));
  }
}

}  // namespace

ReadableFile::ReadableFile(const std::filesystem::path& path) : path_(path) {
  // O_NONBLOCK: opening a FIFO that nobody writes to must not hang.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail_to_read("{}: cannot be opened: {}", path.string(), errno_text(errno));
  struct stat status {};
  const char* problem = nullptr;
  if (::fstat(descriptor_, &status) != 0) {
    problem = "its size cannot be read";
  } else if (S_ISDIR(status.st_mode)) {
    problem = "is a directory; a file is needed here";
  } else if (!S_ISREG(status.st_mode)) {
    problem = "is not a regular file";
  }
  if (problem) {
    ::close(descriptor_);
    fail_to_read("{}: {}", path.string(), problem);
  }
  size_ = uint64_t(status.st_size);
  changed_ = status.st_mtim;
}

ReadableFile::~ReadableFile() {
  ::close(descriptor_);
}

void ReadableFile::read(uint64_t offset, std::span<std::byte> target) const {
  if (read_some(offset, target) < target.size()) {
    fail_to_read("{}: became shorter while it was read; try again when it is whole",
                 path_.string());
  }
  struct stat now {};
  if (::fstat(descriptor_, &now) != 0 || uint64_t(now.st_size) != size_ ||
      now.st_mtim.tv_sec != changed_.tv_sec || now.st_mtim.tv_nsec != changed_.tv_nsec) {
    fail_to_read("{}: was changed while it was in use; try again when it is whole", path_.string());
  }
}

size_t ReadableFile::read_some(uint64_t offset, std::span<std::byte> target) const {
  size_t done = 0;
  while (done < target.size()) {
    const ssize_t got =
        ::pread(descriptor_, target.data() + done, target.size() - done, off_t(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_to_read("{}: cannot be read: {}", path_.string(), errno_text(errno));
    if (got == 0) break;
    done += size_t(got);
  }
  return done;
}

WholeFile::WholeFile(const std::filesystem::path& path) : path_(path) {
  const ReadableFile file(path);
  size_ = size_t(file.size());
  std::byte* data = nullptr;
  if (size_ < kLarge) {
    small_.resize(size_);
    data = small_.data();
  } else {
    expect_memory_for(path, file.size());
    data = large_.take<std::byte>(int64_t(size_));
  }
  file.read(0, {data, size_});
  data_ = data;
}

std::vector<std::byte> read_file(const std::filesystem::path& path, uint64_t max_bytes) {
  const ReadableFile file(path);
  if (file.size() > max_bytes) {
    fail("{}: has {}, more than the {} that are read here", path.string(),
         format_bytes(file.size()), format_bytes(max_bytes));
  }
  std::vector<std::byte> bytes(static_cast<size_t>(file.size()));
  bytes.resize(file.read_some(0, bytes));  // less where it became shorter: what reads it will see
  return bytes;
}

std::vector<std::byte> read_beginning(const std::filesystem::path& path, size_t most) {
  const ReadableFile file(path);
  std::vector<std::byte> bytes(size_t(std::min<uint64_t>(file.size(), most)));
  bytes.resize(file.read_some(0, bytes));
  return bytes;
}

std::vector<std::byte> read_standard_input(uint64_t max_bytes) {
  if (::isatty(STDIN_FILENO)) {
    fail("standard input is a terminal; pipe a file into it, or name the file");
  }
  constexpr size_t kStep = 1 << 16;
  std::vector<std::byte> bytes;
  while (true) {
    const size_t before = bytes.size();
    bytes.resize(before + kStep);
    const ssize_t got = ::read(STDIN_FILENO, bytes.data() + before, kStep);
    bytes.resize(before + size_t(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("standard input cannot be read: {}", errno_text(errno));
    if (got == 0) return bytes;
    if (bytes.size() > max_bytes) {
      fail("standard input has more than the {} that are read here", format_bytes(max_bytes));
    }
  }
}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  namespace fs = std::filesystem;
  check_replaceable(path_);
  const fs::path directory = directory_of(path_);
  static std::atomic<unsigned> counter{0};
  do {  // a name of its own beside the file, so that the rename stays within one file system
    temporary_ = (directory / fmt::format("{}{}-{}{}", kTemporaryPrefix, ::getpid(), counter++,
                                          kTemporarySuffix))
                     .string();
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) {
    fail("{}: cannot be written: {}", path_.string(), errno_text(errno));
  }
  // Who could not read the file that is replaced shall not read the new one either.
  struct stat replaced {};
  if (::stat(path_.c_str(), &replaced) == 0 && S_ISREG(replaced.st_mode)) {
    (void)!::fchmod(descriptor_, replaced.st_mode & 0777);
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  SACT_ASSERT(descriptor_ >= 0);
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail("{}: cannot be written: {}", path_.string(), errno_text(errno));
    bytes = bytes.subspan(size_t(put));
  }
}

void AtomicFile::commit_keeping(const std::filesystem::path& previous) {
  SACT_ASSERT(descriptor_ >= 0);
  sync();  // first: nothing takes the place of what is kept before it is whole
  // A second name, so that the first is there until the rename.
  const std::string link = temporary_ + ".kept" + std::string(kTemporarySuffix);
  ::unlink(link.c_str());
  int problem = ::link(path_.c_str(), link.c_str()) == 0 ? 0 : errno;
  const char* from = problem == 0 ? link.c_str() : path_.c_str();  // some systems have no links
  if (problem != ENOENT) problem = ::rename(from, previous.c_str()) == 0 ? 0 : errno;
  ::unlink(link.c_str());  // still there where the rename failed, or both were one file already
  if (problem != 0 && problem != ENOENT) {
    fail("{}: cannot be put in place: {}", previous.string(), errno_text(problem));
  }
  commit();
}

void AtomicFile::sync() {
  if (::fsync(descriptor_) != 0) {
    fail("{}: cannot be written: {}", path_.string(), errno_text(errno));
  }
}

void AtomicFile::commit(Durability durability) {
  SACT_ASSERT(descriptor_ >= 0);
  const bool synced = durability == Durability::kSynced;
  if (synced) sync();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    fail("{}: cannot be put in place: {}", path_.string(), errno_text(errno));
  }
  ::close(std::exchange(descriptor_, -1));
  if (!synced) return;
  // The rename itself must survive a power cut: sync the directory too, where that is possible.
  const int directory = ::open(directory_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    ::fsync(directory);
    ::close(directory);
  }
}

void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes,
                           Durability durability) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit(durability);
}

void write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

void check_writable(const std::filesystem::path& path) {
  AtomicFile probe(path);  // its temporary file goes away again
}

DirectoryLock::DirectoryLock(const std::filesystem::path& directory)
    : descriptor_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail("{}: cannot be opened: {}", directory.string(), errno_text(errno));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor_);
    fail("{}: another process is working in this folder; wait for it, or name another folder",
         directory.string());
  }
}

DirectoryLock::~DirectoryLock() {
  ::close(descriptor_);
}

void remove_left_temporaries(const std::filesystem::path& directory) {
  namespace fs = std::filesystem;
  std::error_code error;  // what cannot be listed or removed does no harm
  std::vector<fs::path> left;
  for (fs::directory_iterator entry(directory, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(kTemporaryPrefix) && name.ends_with(kTemporarySuffix)) {
      left.push_back(entry->path());
    }
  }
  for (const fs::path& path : left) fs::remove(path, error);
}

void make_directories(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error && !std::filesystem::is_directory(path)) {
    error = std::make_error_code(std::errc::not_a_directory);
  }
  if (error == std::errc::not_a_directory) {
    fail("{}: cannot be made: a file stands there or above it; name another folder", path.string());
  }
  if (error) fail("{}: cannot be made: {}", path.string(), error.message());
}

}  // namespace sact
