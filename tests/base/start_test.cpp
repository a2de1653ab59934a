// What is said where the system refuses threads and processes.
#include "base/start.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "base/error.h"
#include "base/ordered_jobs.h"
#include "base/program.h"
#include "base/thread_team.h"

namespace sact {
namespace {

constexpr int kRefused = 1, kUnlimited = 77;

/// No thread or process more, for a user who has none besides; root is never refused.
void allow_no_more() {
  const rlimit limit{1, 1};
  setrlimit(RLIMIT_NPROC, &limit);
  if (geteuid() == 0 && setuid(61234) != 0) _exit(kUnlimited);
}

template <typename Work>
[[noreturn]] void try_it(const Work& work) {
  allow_no_more();
  try {
    work();
  } catch (const std::exception& error) {
    std::fputs(error.what(), stderr);
    _exit(kRefused);
  }
  _exit(kUnlimited);
}

class Refusals : public ::testing::Test {
 protected:
  void SetUp() override {
    const pid_t child = fork();
    if (child == 0) try_it([] { std::thread([] {}).join(); });
    int status = 0;
    waitpid(child, &status, 0);
    if (WEXITSTATUS(status) != kRefused) GTEST_SKIP() << "no limit holds here";
  }

  template <typename Work>
  static void expect_said(const Work& work, const char* what) {
    EXPECT_EXIT(try_it(work), ::testing::ExitedWithCode(kRefused), what);
  }
};

constexpr char kThread[] =
    "^the system refuses another thread \\(Resource temporarily unavailable\\); use fewer threads, "
    "or allow more: 'ulimit -u', [^\n]*$";

TEST_F(Refusals, OfAThread) {
  expect_said([] { start_thread([] {}).join(); }, kThread);
}

TEST_F(Refusals, OfAThreadWithAResult) {
  expect_said([] { start_async([] { return 1; }).get(); }, kThread);
}

TEST_F(Refusals, OfThreadsThatALibraryWillStart) {
  expect_said([] { expect_threads(3); }, kThread);
}

TEST_F(Refusals, OfATeam) {
  expect_said([] { ThreadTeam(2); }, kThread);
}

TEST_F(Refusals, OfJobs) {
  expect_said(
      [] {
        run_in_order(
            2, 2, [](int, size_t i) { return i; }, [](size_t, size_t) {}, [] { return false; },
            [] {});
      },
      kThread);
}

TEST_F(Refusals, NameWhatThereMayBeFewerOf) {
  expect_said([] { start_thread([] {}, "workers").join(); }, "use fewer workers, ");
}

TEST_F(Refusals, OfAProgram) {
  expect_said([] { run_program("/bin/true", {}, 1); },
              "^/bin/true: cannot be run: the system refuses another process \\(Resource "
              "temporarily unavailable\\); allow more: 'ulimit -u', [^\n]*$");
}

}  // namespace
}  // namespace sact
