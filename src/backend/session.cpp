#include "backend/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/stopwatch.h"

namespace sact {

std::string product_text(int taps, int depth, int columns) {
  return taps == 1 ? fmt::format("{} to {}", depth, columns)
                   : fmt::format("{} x {} to {}", taps, depth, columns);
}

double LayerTime::ceiling_seconds() const {
  const double moving = bytes_per_second > 0 ? bytes / bytes_per_second : 0;
  const double multiplying = operations_per_second > 0 ? operations() / operations_per_second : 0;
  return std::max(moving, multiplying);
}

void NetworkSession::set_halting(const HaltingControl&) {
  SACT_ASSERT(!"this back end can be steered");
}

void NetworkSession::set_interruption(std::function<bool()>) {
  SACT_ASSERT(!"this back end can be steered");
}

void NetworkSession::prescribe_units(std::vector<std::vector<int32_t>> units) {
  SACT_ASSERT(units.empty());
}

void NetworkSession::observe(OperandObserver* observer) {
  SACT_ASSERT(!observer);
}

double NetworkSession::time_run(const InputView& input) {
  Stopwatch watch;
  run(input);
  return watch.lap();
}

std::vector<LayerTime> NetworkSession::time_layers(const InputView&) {
  return {};
}

void fail_not_finite() {
  fail("the network's output is not finite");
}

}  // namespace sact
