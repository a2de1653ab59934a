#include "base/ordered_jobs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string>

namespace sact {
namespace {

bool never() {
  return false;
}

void nothing() {}

TEST(OrderedJobs, ResultsAreTakenInTheirOrderWhateverTheThreads) {
  for (const int threads : {1, 2, 5}) {
    for (const size_t count : {0u, 1u, 7u, 300u}) {
      std::vector<std::string> taken;
      const size_t done = run_in_order(
          count, threads,
          [](int, size_t i) {
            // Early jobs take longest, so that later ones are ready before them.
            std::this_thread::sleep_for(std::chrono::microseconds(i % 7 == 0 ? 500 : 1));
            return std::to_string(i * i);
          },
          [&](size_t i, std::string result) {
            EXPECT_EQ(i, taken.size());
            taken.push_back(std::move(result));
          },
          never, nothing);
      EXPECT_EQ(done, count);
      ASSERT_EQ(taken.size(), count);
      for (size_t i = 0; i < count; ++i) EXPECT_EQ(taken[i], std::to_string(i * i));
    }
  }
}

TEST(OrderedJobs, EveryThreadHasItsNumberForItself) {
  constexpr int kThreads = 3;
  std::vector<std::atomic<int>> inside(kThreads);
  run_in_order(
      100, kThreads,
      [&](int thread, size_t) {
        EXPECT_EQ(inside.at(size_t(thread))++, 0);
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        inside[size_t(thread)]--;
        return 0;
      },
      [](size_t, int) {}, never, nothing);
}

TEST(OrderedJobs, NoJobStartsFarAheadOfTheLastOneTaken) {
  std::atomic<size_t> taken = 0, most_ahead = 0;
  run_in_order(
      200, 2,
      [&](int, size_t i) {
        const size_t ahead = i - std::min(i, taken.load());
        size_t seen = most_ahead;
        while (ahead > seen && !most_ahead.compare_exchange_weak(seen, ahead)) {
        }
        return i;
      },
      [&](size_t, size_t) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        ++taken;
      },
      never, nothing);
  EXPECT_LE(most_ahead, 8u);
  EXPECT_GT(most_ahead, 0u);
}

TEST(OrderedJobs, AStopFinishesAndTakesWhatHasStarted) {
  std::atomic<size_t> started = 0;
  size_t taken = 0;
  const size_t done = run_in_order(
      1000, 2,
      [&](int, size_t i) {
        ++started;
        return i;
      },
      [&](size_t, size_t) { ++taken; }, [&] { return started >= 20; }, nothing);
  EXPECT_EQ(done, taken);
  EXPECT_EQ(taken, started);
  EXPECT_GE(taken, 20u);
  EXPECT_LE(taken, 22u);
}

TEST(OrderedJobs, AFailureIsThrownInItsTurn) {
  std::vector<size_t> taken;
  const auto run = [&] {
    run_in_order(
        50, 3,
        [](int, size_t i) {
          if (i == 5 || i == 6) throw std::runtime_error("job " + std::to_string(i));
          return i;
        },
        [&](size_t i, size_t) { taken.push_back(i); }, never, nothing);
  };
  try {
    run();
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "job 5");
  }
  EXPECT_EQ(taken, (std::vector<size_t>{0, 1, 2, 3, 4}));
}

TEST(OrderedJobs, AnExceptionOfTheTakerEndsTheWork) {
  std::atomic<size_t> made = 0;
  EXPECT_THROW(run_in_order(
                   1'000'000, 2, [&](int, size_t i) { return ++made, i; },
                   [](size_t i, size_t) {
                     if (i == 3) throw std::runtime_error("full disk");
                   },
                   never, nothing),
               std::runtime_error);
  EXPECT_LT(made, 100u);
}

TEST(OrderedJobs, WhoWaitsIsCalledNowAndThen) {
  std::atomic<int> calls = 0;
  run_in_order(
      1, 1,
      [&](int, size_t) {
        while (calls < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return 0;
      },
      [](size_t, int) {}, never, [&] { ++calls; });
  EXPECT_GE(calls, 2);
}

}  // namespace
}  // namespace sact
