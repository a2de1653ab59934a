#include "measure/benchmark.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <thread>

#include "base/error.h"
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

NetworkSource dense_network(const ModelFile& model) {
  NetworkSource source = image_network_of(model);
  source.spec.halting = Halting::kNone;
  return source;
}

NetworkSource adaptive_network(const ModelFile& model) {
  NetworkSource source = image_network_of(model);
  if (source.spec.adaptive()) return source;
  source.spec.halting = Halting::kSact;
  std::map<std::string, std::vector<float>> fresh;
  for (Weight& weight : initial_weights(source.spec)) {
    if (!model.find(weight.info.name)) fresh.emplace(weight.info.name, std::move(weight.values));
  }
  source.weights = [&model, fresh = std::move(fresh)](const WeightInfo& info) {
    const auto found = fresh.find(info.name);
    return found != fresh.end() ? found->second : model.values(info);
  };
  return source;
}

}  // namespace sact::measure
