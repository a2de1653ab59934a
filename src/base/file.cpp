#include "base/file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace sact {
namespace {

// Names of files that are not yet whole.
constexpr std::string_view kTemporaryPrefix = ".sact-", kTemporarySuffix = ".tmp";

/// A descriptor of a regular file opened for reading, with its size.
struct OpenFile {
  int descriptor = -1;
  uint64_t size = 0;

  explicit OpenFile(const std::filesystem::path& path) {
    // O_NONBLOCK: opening a FIFO that nobody writes to must not hang.
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) fail("{}: cannot be opened: {}", path.string(), errno_text(errno));
    struct stat status {};
    const char* problem = nullptr;
    if (::fstat(descriptor, &status) != 0) {
      problem = "its size cannot be read";
    } else if (S_ISDIR(status.st_mode)) {
      problem = "is a directory; a file is needed here";
    } else if (!S_ISREG(status.st_mode)) {
      problem = "is not a regular file";
    }
    if (problem) {
      ::close(descriptor);
      fail("{}: {}", path.string(), problem);
    }
    size = uint64_t(status.st_size);
  }
  ~OpenFile() { ::close(descriptor); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
};

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

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  OpenFile file(path);
  size_ = size_t(file.size);
  if (size_ == 0) return;
  void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.descriptor, 0);
  if (address == MAP_FAILED) {
    fail("{}: cannot be mapped into memory: {}", path.string(), errno_text(errno));
  }
  data_ = static_cast<const std::byte*>(address);
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

std::vector<std::byte> read_file(const std::filesystem::path& path, uint64_t max_bytes) {
  OpenFile file(path);
  if (file.size > max_bytes) {
    fail("{}: has {}, more than the {} that are read here", path.string(), format_bytes(file.size),
         format_bytes(max_bytes));
  }
  std::vector<std::byte> bytes(static_cast<size_t>(file.size));
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(file.descriptor, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("{}: cannot be read: {}", path.string(), errno_text(errno));
    if (got == 0) break;  // the file became shorter while it was read
    done += size_t(got);
  }
  bytes.resize(done);
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

void AtomicFile::commit(Durability durability) {
  SACT_ASSERT(descriptor_ >= 0);
  const bool sync = durability == Durability::kSynced;
  if (sync && ::fsync(descriptor_) != 0) {
    fail("{}: cannot be written: {}", path_.string(), errno_text(errno));
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    fail("{}: cannot be put in place: {}", path_.string(), errno_text(errno));
  }
  ::close(std::exchange(descriptor_, -1));
  if (!sync) return;
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
