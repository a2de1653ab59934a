// Files: reading them whole, and writing that leaves a whole file or none.
#pragma once

#include <time.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/error.h"

namespace sact {

/// A file cannot be read as it is now: no right, a disk or network that fails, another writer. It
/// may be whole even so.
class UnreadableFile : public Error {
 public:
  using Error::Error;
};

/// A regular file that is open, to be read anywhere. Files are read and not mapped: bytes that
/// another process cuts off a mapped file end this one by a signal wherever it reads next.
class ReadableFile {
 public:
  explicit ReadableFile(const std::filesystem::path& path);
  ~ReadableFile();
  ReadableFile(const ReadableFile&) = delete;
  ReadableFile& operator=(const ReadableFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// When it was opened.
  uint64_t size() const { return size_; }
  /// Fills `target`; UnreadableFile where somebody changed the file since it was opened, whose
  /// parts would not fit together. Any number of threads may read.
  void read(uint64_t offset, std::span<std::byte> target) const;
  /// The same up to the file's end; how many bytes there were.
  size_t read_some(uint64_t offset, std::span<std::byte> target) const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
  timespec changed_{};  // last, when it was opened
};

/// All of a regular file, of whatever size, in memory of its own.
class WholeFile {
 public:
  /// sact::Error where it cannot be read, where there is no memory for it, and where it became
  /// shorter meanwhile.
  explicit WholeFile(const std::filesystem::path& path);

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::vector<std::byte> small_;
  Arena large_{0};  // whose pages cost less
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

/// Reads a whole regular file; refuses directories, devices and files over `max_bytes`.
std::vector<std::byte> read_file(const std::filesystem::path& path, uint64_t max_bytes);

/// The first bytes of a regular file, as many as there are up to `most`.
std::vector<std::byte> read_beginning(const std::filesystem::path& path, size_t most);

/// All that standard input has, until its end; refuses more than `max_bytes`, and a terminal.
std::vector<std::byte> read_standard_input(uint64_t max_bytes);

/// Whether a file must survive a power cut right after it was written. Waiting for the disk takes
/// longer than drawing a picture; what can be made anew need not wait.
enum class Durability { kSynced, kUnsynced };

/// Writes beside `path`; commit() syncs and renames into place, without it nothing changes there. A
/// file that is replaced hands on its permissions; a link is replaced itself, its target stays.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void commit(Durability durability = Durability::kSynced);
  /// The same, and the file that is replaced stays there as `previous`, beside it. At any moment
  /// one of the two is whole.
  void commit_keeping(const std::filesystem::path& previous);

 private:
  void sync();

  std::filesystem::path path_;
  std::string temporary_;
  int descriptor_ = -1;
};

void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes,
                           Durability durability = Durability::kSynced);
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// Throws what writing to `path` would throw, so that it is known before hours of work and not
/// after them. Leaves nothing behind.
void check_writable(const std::filesystem::path& path);

/// The right to be the only one that writes in a directory, as long as the object lives; it ends
/// with the process, however that ends.
class DirectoryLock {
 public:
  /// Throws sact::Error when another process holds it. Where the file system has no such locks
  /// nothing is locked.
  explicit DirectoryLock(const std::filesystem::path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int descriptor_ = -1;
};

/// Removes what writers of files in `directory` have left behind that were killed before commit().
/// No other process may be writing there.
void remove_left_temporaries(const std::filesystem::path& directory);

/// Makes the directory and its parents, with a clear error when that cannot be done.
void make_directories(const std::filesystem::path& path);

}  // namespace sact
