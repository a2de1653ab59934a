#include "engine/cpu/peak.h"

#include <numeric>
#include <vector>

#include "base/stopwatch.h"

namespace sact::engine {

Peak::Peak(const kernels::Table& table, kernels::DataType type, int threads)
    : functions_(table.functions(type)), team_(threads) {}

double Peak::measure() {
  constexpr double kLeastMs = 4;
  for (;;) {
    std::vector<int64_t> operations(size_t(team_.size()));
    Stopwatch watch;
    team_.run(team_.size(),
              [&](int thread) { operations[size_t(thread)] = functions_.multiply_adds(steps_); });
    const double ms = watch.lap();
    if (ms < kLeastMs) {
      steps_ *= 2;
      continue;
    }
    return double(std::accumulate(operations.begin(), operations.end(), int64_t{0})) / ms * 1e3;
  }
}

}  // namespace sact::engine
