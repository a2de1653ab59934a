#include "measure/benchmark.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <thread>

#include "base/error.h"
#include "model/detection.h"
#include "model/initial_weights.h"

namespace sact::measure {

double Times::quantile(double share) const {
  SACT_ASSERT(!ms.empty());
  std::vector<double> sorted = ms;
  std::sort(sorted.begin(), sorted.end());
  const double place = share * double(sorted.size() - 1);
  const size_t below = size_t(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - double(below)) * (sorted[above] - sorted[below]);
}

double Times::sum() const {
  return std::accumulate(ms.begin(), ms.end(), 0.0);
}

double milliseconds(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

void take_turns(std::vector<Candidate>& candidates, const Rounds& rounds) {
  for (int round = -rounds.warm_up; round < rounds.count; ++round) {
    for (Candidate& candidate : candidates) {
      if (rounds.interrupted && rounds.interrupted()) throw Interrupted("interrupted");
      if (rounds.pause_ms > 0) {
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(rounds.pause_ms));
      }
      const double ms = candidate.run();
      if (round >= 0) candidate.times.ms.push_back(ms);
    }
    if (rounds.progress && round >= 0) rounds.progress(round + 1);
  }
}

Peak::Peak(const kernels::Table& table, kernels::DataType type, int threads)
    : functions_(table.functions(type)), team_(threads) {}

double Peak::measure() {
  constexpr double kLeastMs = 4;
  for (;;) {
    std::vector<int64_t> operations(size_t(team_.size()));
    const double ms = milliseconds([&] {
      team_.run(team_.size(),
                [&](int thread) { operations[size_t(thread)] = functions_.multiply_adds(steps_); });
    });
    if (ms < kLeastMs) {
      steps_ *= 2;
      continue;
    }
    return double(std::accumulate(operations.begin(), operations.end(), int64_t{0})) / ms * 1e3;
  }
}

std::shared_ptr<const engine::Plan> dense_plan(const ModelFile& model, const kernels::Table& table,
                                               kernels::DataType type) {
  ModelSpec spec = image_network(model.spec());
  spec.halting = Halting::kNone;
  return std::make_shared<engine::Plan>(
      spec, [&](const WeightInfo& info) { return model.values(info); }, table, type);
}

std::shared_ptr<const engine::Plan> adaptive_plan(const ModelFile& model,
                                                  const kernels::Table& table,
                                                  kernels::DataType type) {
  ModelSpec spec = image_network(model.spec());
  std::map<std::string, std::vector<float>> fresh;
  if (!spec.adaptive()) {
    spec.halting = Halting::kSact;
    for (Weight& weight : initial_weights(spec)) {
      if (!model.find(weight.info.name)) fresh.emplace(weight.info.name, std::move(weight.values));
    }
  }
  return std::make_shared<engine::Plan>(
      spec,
      [&](const WeightInfo& info) {
        const auto found = fresh.find(info.name);
        return found != fresh.end() ? found->second : model.values(info);
      },
      table, type);
}

}  // namespace sact::measure
