// Reading and writing files: whole or not at all.
#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "support/errors.h"
#include "support/temporary.h"

namespace sact {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  const auto bytes = read_file(path, 1 << 20);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

size_t files_in(const fs::path& directory) {
  return size_t(std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
}

TEST(File, WhatIsNotSyncedIsStillPutInPlaceWhole) {
  test::TemporaryDirectory directory;
  const std::string text = "new";
  write_file_atomically(directory / "a", "old, and longer");
  write_file_atomically(directory / "a", std::as_bytes(std::span(text)), Durability::kUnsynced);
  EXPECT_EQ(text_of(directory / "a"), "new");
  EXPECT_EQ(files_in(directory.path()), 1u) << "no temporary file is left";
}

TEST(File, WrittenBytesAreReadBack) {
  test::TemporaryDirectory directory;
  write_file_atomically(directory / "a", "hello");
  EXPECT_EQ(text_of(directory / "a"), "hello");
  write_file_atomically(directory / "a", "replaced");
  EXPECT_EQ(text_of(directory / "a"), "replaced");
  EXPECT_EQ(files_in(directory.path()), 1u) << "no temporary file is left";
}

TEST(File, WithoutCommitNothingChanges) {
  test::TemporaryDirectory directory;
  write_file_atomically(directory / "a", "old");
  {
    AtomicFile file(directory / "a");
    file.write("half of the new te");
  }
  EXPECT_EQ(text_of(directory / "a"), "old");
  EXPECT_EQ(files_in(directory.path()), 1u);
}

TEST(File, NewFilesHaveOrdinaryRights) {
  test::TemporaryDirectory directory;
  const mode_t mask = ::umask(022);
  write_file_atomically(directory / "a", "x");
  ::umask(mask);
  struct stat status {};
  ASSERT_EQ(::stat((directory / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
}

TEST(File, SpecialFilesAreNotReplaced) {
  test::TemporaryDirectory directory;
  ASSERT_EQ(::mkfifo((directory / "fifo").c_str(), 0600), 0);
  fs::create_directory(directory / "dir");
  for (const char* name : {"fifo", "dir"}) {
    const auto message = test::error_of([&] { write_file_atomically(directory / name, "x"); });
    EXPECT_NE(message.find(name), std::string::npos) << message;
  }
  EXPECT_TRUE(fs::is_fifo(directory / "fifo"));
}

TEST(File, LinksAreReplacedAndNotFollowed) {
  test::TemporaryDirectory directory;
  write_file_atomically(directory / "target", "old");
  fs::create_symlink("target", directory / "link");
  fs::create_symlink("nowhere", directory / "dangling");
  for (const char* name : {"link", "dangling"}) {
    write_file_atomically(directory / name, "new");
    EXPECT_FALSE(fs::is_symlink(directory / name));
    EXPECT_EQ(text_of(directory / name), "new");
  }
  EXPECT_EQ(text_of(directory / "target"), "old");
  EXPECT_FALSE(fs::exists(directory / "nowhere"));
}

TEST(File, LinksToOpenFilesAreNotReplaced) {
  test::TemporaryDirectory directory;
  std::ofstream(directory / "redirected") << "old";
  const int descriptor = ::open((directory / "redirected").c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  // What /dev/stdout is when standard output goes to a file.
  fs::create_symlink("/proc/self/fd/" + std::to_string(descriptor), directory / "stdout");
  const auto message = test::error_of([&] { write_file_atomically(directory / "stdout", "x"); });
  ::close(descriptor);
  EXPECT_NE(message.find("stands for an open file"), std::string::npos) << message;
  EXPECT_TRUE(fs::is_symlink(directory / "stdout"));
}

TEST(File, PermissionsOfAReplacedFileAreKept) {
  test::TemporaryDirectory directory;
  std::ofstream(directory / "a") << "old";
  for (const mode_t mode : {0600u, 0664u, 0751u}) {
    ASSERT_EQ(::chmod((directory / "a").c_str(), mode), 0);
    write_file_atomically(directory / "a", "new");
    struct stat status {};
    ASSERT_EQ(::stat((directory / "a").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, mode);
  }
}

TEST(File, NamesMayBeAsLongAsTheSystemAllows) {
  test::TemporaryDirectory directory;
  const std::string name(255, 'n');
  write_file_atomically(directory / name, "x");
  EXPECT_EQ(text_of(directory / name), "x");
}

TEST(File, FullDiskLeavesTheOldFile) {
  // A limit on file size stands in for a full disk: write() fails the same way.
  test::TemporaryDirectory directory;
  write_file_atomically(directory / "a", "old");
  rlimit old_limit{};
  getrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, old_limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string message =
      test::error_of([&] { write_file_atomically(directory / "a", std::string(5000, 'x')); });
  setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_NE(message.find("cannot be written"), std::string::npos) << message;
  EXPECT_EQ(text_of(directory / "a"), "old");
  EXPECT_EQ(files_in(directory.path()), 1u);
}

TEST(File, WrongKindsOfFileAreNamed) {
  test::TemporaryDirectory directory;
  auto message = [&](const char* name) {
    return test::error_of([&] { WholeFile file(directory / name); });
  };
  EXPECT_NE(message("missing").find("No such file"), std::string::npos);
  fs::create_directory(directory / "dir");
  EXPECT_NE(message("dir").find("is a directory"), std::string::npos);
  ASSERT_EQ(::mkfifo((directory / "fifo").c_str(), 0600), 0);
  EXPECT_NE(message("fifo").find("not a regular file"), std::string::npos) << "and does not hang";
}

TEST(File, EmptyFileIsReadAsNothing) {
  test::TemporaryDirectory directory;
  std::ofstream(directory / "empty");
  EXPECT_TRUE(WholeFile(directory / "empty").bytes().empty());
}

TEST(File, OneThatIsCutWhileItIsReadIsAnErrorOrWhole) {
  test::TemporaryDirectory directory;
  const fs::path path = directory / "a";
  constexpr size_t kBytes = 5 << 20;  // more than is read in one piece of small memory
  write_file_atomically(path, std::string(kBytes, 'x'));
  std::atomic<bool> done = false;
  std::thread cutter([&] {
    while (!done) {
      for (const size_t size : {kBytes / 2, size_t{0}, kBytes}) fs::resize_file(path, size);
    }
  });
  int whole = 0, refused = 0;
  for (int i = 0; i < 300; ++i) {
    try {
      const WholeFile file(path);
      const auto bytes = file.bytes();  // every page of it: zeros where it was made longer again
      whole += std::all_of(bytes.begin(), bytes.end(),
                           [](std::byte b) { return b == std::byte{'x'} || b == std::byte{0}; });
    } catch (const UnreadableFile&) {
      ++refused;
    }
  }
  done = true;
  cutter.join();
  EXPECT_EQ(whole + refused, 300);
}

TEST(File, ASparseFileLargerThanMemoryIsRefused) {
  test::TemporaryDirectory directory;
  const fs::path path = directory / "huge";
  std::ofstream(path).close();
  std::error_code error;
  fs::resize_file(path, uint64_t{1} << 42, error);
  if (error) GTEST_SKIP() << "this file system has no files of 4 TiB";
  EXPECT_NE(test::error_of([&] { WholeFile file(path); }).find("of free memory"),
            std::string::npos);
}

TEST(File, TheBeginningIsWhatThereIsOfIt) {
  test::TemporaryDirectory directory;
  write_file_atomically(directory / "a", "12345");
  EXPECT_EQ(read_beginning(directory / "a", 3).size(), 3u);
  EXPECT_EQ(read_beginning(directory / "a", 9).size(), 5u);
}

TEST(File, WhatIsChangedWhileItIsInUseIsNotReadAsWhatItWas) {
  test::TemporaryDirectory directory;
  write_file_atomically(directory / "a", "12345678");
  const ReadableFile file(directory / "a");
  std::array<std::byte, 4> bytes;
  file.read(0, bytes);
  fs::last_write_time(directory / "a", fs::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_NE(test::error_of([&] { file.read(4, bytes); }).find("was changed"), std::string::npos);
  const ReadableFile again(directory / "a");
  write_file_atomically(directory / "a", "87654321");  // another file of that name
  again.read(4, bytes);
  EXPECT_EQ(bytes[0], std::byte('5'));
}

TEST(File, WhatIsReplacedIsKept) {
  test::TemporaryDirectory directory;
  const auto write = [&](std::string_view text) {
    AtomicFile file(directory / "a");
    file.write(text);
    file.commit_keeping(directory / "before");
  };
  write("one");
  EXPECT_FALSE(fs::exists(directory / "before"));
  write("two");
  EXPECT_EQ(text_of(directory / "before"), "one");
  write("three");
  EXPECT_EQ(text_of(directory / "before"), "two");
  EXPECT_EQ(text_of(directory / "a"), "three");
  EXPECT_EQ(files_in(directory.path()), 2u) << "and nothing else is left";
  fs::remove(directory / "before");
  fs::create_hard_link(directory / "a", directory / "before");  // a kill between two renames
  write("three again");
  EXPECT_EQ(text_of(directory / "before"), "three");
  EXPECT_EQ(files_in(directory.path()), 2u);
  write("three");
  fs::remove(directory / "before");
  fs::create_directories(directory / "before/in");
  EXPECT_NE(test::error_of([&] { write("four"); }).find("before"), std::string::npos);
  EXPECT_EQ(text_of(directory / "a"), "three");
  EXPECT_EQ(files_in(directory.path()), 2u);
}

TEST(File, SizeLimitIsCheckedBeforeReading) {
  test::TemporaryDirectory directory;
  write_file_atomically(directory / "a", "12345");
  EXPECT_NE(test::error_of([&] { read_file(directory / "a", 4); }).find("more than"),
            std::string::npos);
}

TEST(File, DirectoriesThatCannotBeMadeAreNamed) {
  test::TemporaryDirectory directory;
  write_file_atomically(directory / "a", "file");
  const auto message = test::error_of([&] { make_directories(directory / "a/b"); });
  EXPECT_NE(message.find("a/b"), std::string::npos);
  EXPECT_NE(test::error_of([&] { make_directories(directory / "a"); }).find("a file stands there"),
            std::string::npos);
}

TEST(DirectoryLock, IsHeldByOne) {
  test::TemporaryDirectory directory;
  {
    const DirectoryLock first(directory.path());
    EXPECT_NE(test::error_of([&] {
                DirectoryLock second(directory.path());
              }).find("another process is working in this folder"),
              std::string::npos);
  }
  const DirectoryLock free_again(directory.path());
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(LeftTemporaries, AreRemovedAndNothingElse) {
  test::TemporaryDirectory directory;
  {
    AtomicFile given_up(directory / "file");
    given_up.write("half");
    ASSERT_FALSE(std::filesystem::is_empty(directory.path()));
    remove_left_temporaries(directory.path());
    EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  }
  for (const char* name : {"notes.tmp", ".sact-list", "a"}) std::ofstream(directory / name) << "x";
  remove_left_temporaries(directory.path());
  for (const char* name : {"notes.tmp", ".sact-list", "a"}) {
    EXPECT_TRUE(std::filesystem::exists(directory / name)) << name;
  }
  remove_left_temporaries(directory / "missing");
}

TEST(CheckWritable, TellsBeforehandAndLeavesNothing) {
  test::TemporaryDirectory directory;
  check_writable(directory / "new");
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  std::ofstream(directory / "old") << "kept";
  check_writable(directory / "old");
  const auto bytes = read_file(directory / "old", 100);
  EXPECT_EQ(bytes.size(), 4u);
  for (const char* name : {"", "missing/new", "old/new"}) {
    const std::string path = (directory / name).string();
    EXPECT_NE(test::error_of([&] { check_writable(path); }).find(path), std::string::npos);
  }
}

}  // namespace
}  // namespace sact
