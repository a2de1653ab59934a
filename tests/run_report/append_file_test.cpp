// Tests that an append-only file holds whole records.
#include "report/append_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "base/file.h"
#include "support/errors.h"
#include "support/temporary.h"

namespace sact::report {
namespace {

/// A disk that is full once files reach this size.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(AppendFile, RecordThatDoesNotFitIsTakenBackWhole) {
  test::TemporaryDirectory directory;
  AppendFile file(directory / "log", AppendFile::Mode::kCreate);
  file.append(std::string(80, 'a'));
  {
    const FileSizeLimit full(100);
    const std::string message = test::error_of([&] { file.append(std::string(50, 'b')); });
    EXPECT_NE(message.find("log: cannot be written"), std::string::npos) << message;
  }
  EXPECT_EQ(std::filesystem::file_size(directory / "log"), 80u);
  file.append("c");
  EXPECT_EQ(std::filesystem::file_size(directory / "log"), 81u);
}

TEST(AppendFile, CreatingRefusesWhatIsThere) {
  test::TemporaryDirectory directory;
  write_file_atomically(directory / "log", "precious");
  test::error_of([&] { AppendFile(directory / "log", AppendFile::Mode::kCreate); });
  EXPECT_EQ(std::filesystem::file_size(directory / "log"), 8u);
}

TEST(AppendFile, ContinuingAppends) {
  test::TemporaryDirectory directory;
  for (int i = 0; i < 2; ++i)
    AppendFile(directory / "log", AppendFile::Mode::kContinue).append("xy");
  EXPECT_EQ(std::filesystem::file_size(directory / "log"), 4u);
}

TEST(AppendFile, MissingFolderAndDirectoriesAreNamed) {
  test::TemporaryDirectory directory;
  for (const std::string name : {"no/such/log", "."}) {
    const std::string message =
        test::error_of([&] { AppendFile(directory / name, AppendFile::Mode::kContinue); });
    EXPECT_NE(message.find("cannot be written"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace sact::report
