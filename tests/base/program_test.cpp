// Running other programs.
#include "base/program.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "support/errors.h"

namespace sact {
namespace {

Finished shell(const std::string& script, size_t max_output = 1 << 20) {
  return run_program("/bin/sh", {"-c", script}, max_output);
}

std::string text_of(const Finished& finished) {
  return {reinterpret_cast<const char*>(finished.output.data()), finished.output.size()};
}

TEST(Program, OutputAndStatusComeBack) {
  const Finished finished = shell("echo one; echo two >&2; cat; exit 3");
  EXPECT_EQ(text_of(finished), "one\n");
  EXPECT_EQ(finished.status, 3);
  EXPECT_EQ(shell("true").status, 0);
}

TEST(Program, MoreThanAPipeHoldsComesBack) {
  EXPECT_EQ(shell("head -c 1000000 /dev/zero").output.size(), 1'000'000u);
}

TEST(Program, ArgumentsStayAsTheyAre) {
  const Finished finished = run_program("/bin/echo", {"a b", "$HOME", "ü*"}, 100);
  EXPECT_EQ(text_of(finished), "a b $HOME ü*\n");
}

TEST(Program, ASignalIsNoStatus) {
  EXPECT_EQ(shell("kill -9 $$").status, std::nullopt);
}

TEST(Program, OutputIsBounded) {
  EXPECT_EQ(text_of(shell("printf 12345", 5)), "12345");
  const Finished much = shell("cat /dev/zero", 100'000);
  EXPECT_EQ(much.status, std::nullopt);
  EXPECT_TRUE(much.output.empty());
}

TEST(Program, WhatIsNotThereIsSaid) {
  EXPECT_NE(test::error_of([] { run_program("/none/such", {}, 1); }).find("/none/such: cannot"),
            std::string::npos);
}

TEST(Program, ThreadsMayRunProgramsAtTheSameTime) {
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&right, t] {
      for (int i = 0; i < 10; ++i) {
        const Finished finished =
            shell("echo " + std::to_string(t) + "; exit " + std::to_string(i));
        right += text_of(finished) == std::to_string(t) + "\n" && finished.status == i;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 40);
}

}  // namespace
}  // namespace sact
