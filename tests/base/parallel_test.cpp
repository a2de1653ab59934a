#include "base/parallel.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/errors.h"

namespace sact {
namespace {

TEST(RunInParallel, EveryJobRunsOnce) {
  for (const int threads : {1, 2, 5}) {
    std::vector<int> calls(1000);
    run_in_parallel(calls.size(), threads, [&](size_t i) { ++calls[i]; });
    EXPECT_EQ(calls, std::vector<int>(1000, 1));
  }
  run_in_parallel(0, 3, [](size_t) { ADD_FAILURE(); });
}

TEST(RunInParallel, TheFirstErrorOfTheListIsThrown) {
  for (const int threads : {1, 4}) {
    const std::string message = test::error_of([&] {
      run_in_parallel(8, threads, [](size_t i) {
        if (i >= 3) throw Error("job " + std::to_string(i));
      });
    });
    EXPECT_EQ(message, "job 3");
  }
}

}  // namespace
}  // namespace sact
