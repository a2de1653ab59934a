// Work in a process of its own.
#include "base/child.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "base/error.h"
#include "support/errors.h"

namespace sact {
namespace {

using Bytes = std::vector<std::byte>;

TEST(Child, ResultsOfAnySizeComeBack) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{5'000'000}}) {
    Bytes bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = std::byte(i * 31 % 251);
    EXPECT_EQ(run_in_child([&] { return bytes; }), bytes);
  }
}

TEST(Child, ErrorsComeBack) {
  EXPECT_EQ(test::error_of([] { run_in_child([]() -> Bytes { fail("no {}", 7); }); }), "no 7");
}

TEST(Child, WhatItChangesIsItsOwn) {
  int number = 1;
  ASSERT_TRUE(run_in_child([&] {
    number = 2;
    return Bytes();
  }));
  EXPECT_EQ(number, 1);
}

TEST(Child, ACrashIsNoResult) {
  EXPECT_EQ(run_in_child([]() -> Bytes {
              ::raise(SIGKILL);
              return {};
            }),
            std::nullopt);
  EXPECT_EQ(run_in_child([]() -> Bytes { std::abort(); }), std::nullopt);
  EXPECT_EQ(run_in_child([]() -> Bytes { throw std::bad_alloc(); }), std::nullopt);
}

TEST(Child, WorkWithoutEndIsGivenUp) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(run_in_child(
                []() -> Bytes {
                  for (;;) std::this_thread::sleep_for(std::chrono::milliseconds(10));
                },
                {.seconds = 1}),
            std::nullopt);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Child, MemoryIsLimited) {
  EXPECT_EQ(run_in_child([] { return Bytes(uint64_t(1) << 30); }, {.memory = 64 << 20}),
            std::nullopt);
}

TEST(Child, ThreadsMayHaveChildrenAtTheSameTime) {
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&right, t] {
      for (int i = 0; i < 20; ++i) {
        const Bytes bytes(size_t(1000 * t + i), std::byte(t));
        right += run_in_child([&] { return bytes; }) == bytes;
        right += !run_in_child([]() -> Bytes { std::abort(); });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 160);
}

}  // namespace
}  // namespace sact
