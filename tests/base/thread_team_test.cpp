#include "base/thread_team.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <set>

namespace sact {
namespace {

TEST(ThreadTeam, EveryPartRunsOnceOnAThreadOfItsOwn) {
  for (int size : {1, 2, 3, 8}) {
    ThreadTeam team(size);
    EXPECT_EQ(team.size(), size);
    for (int parts = 1; parts <= size; ++parts) {
      std::vector<int> calls(size_t(size), 0);
      std::vector<std::thread::id> threads(static_cast<size_t>(parts));
      team.run(parts, [&](int part) {
        ++calls[size_t(part)];
        threads[size_t(part)] = std::this_thread::get_id();
      });
      for (int part = 0; part < size; ++part) EXPECT_EQ(calls[size_t(part)], part < parts);
      EXPECT_EQ(std::set(threads.begin(), threads.end()).size(), size_t(parts));
    }
  }
}

TEST(ThreadTeam, JobsFollowEachOtherInOrderAlsoAfterSleep) {
  ThreadTeam team(3);
  std::vector<int64_t> values(1000);
  int64_t rounds = 0;
  for (int round = 0; round < 3000; ++round) {
    // A job reads what the other threads wrote in the job before.
    team.share(1000, 10, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) values[size_t(999 - i)] += i;
    });
    team.share(1000, 10, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) values[size_t(i)] -= 999 - i;
    });
    ++rounds;
    if (round % 1000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(rounds, 3000);
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), int64_t{0}), 0);
  for (int64_t value : values) ASSERT_EQ(value, 0);
}

TEST(ThreadTeam, PartsOfAJobMeetAndSeeWhatTheOthersWrote) {
  for (int size : {1, 2, 5}) {
    ThreadTeam team(size);
    for (int parts = 1; parts <= size; ++parts) {
      std::vector<int> values(static_cast<size_t>(parts), 0);
      std::atomic<int> wrong{0};
      team.run(parts, [&](int part) {
        for (int round = 1; round <= 100; ++round) {
          values[size_t(part)] = round;
          team.barrier();
          for (int value : values) wrong += value != round;
          team.barrier();
        }
      });
      EXPECT_EQ(wrong, 0) << parts << " of " << size;
    }
  }
}

TEST(ThreadTeam, ShareCoversEverythingOnceAndKeepsSmallJobsTogether) {
  ThreadTeam team(4);
  for (int64_t count : {0, 1, 3, 7, 8, 100}) {
    std::vector<int> calls(size_t(count), 0);
    std::atomic<int> parts{0};
    team.share(count, 8, [&](int64_t first, int64_t last) {
      ++parts;
      for (int64_t i = first; i < last; ++i) ++calls[size_t(i)];
    });
    for (int call : calls) EXPECT_EQ(call, 1);
    EXPECT_EQ(parts, count == 0 ? 0 : count <= 8 ? 1 : 4);
  }
}

}  // namespace
}  // namespace sact
