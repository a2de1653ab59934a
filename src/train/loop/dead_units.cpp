#include "train/loop/dead_units.h"

#include <cmath>
#include <numeric>

#include "base/text.h"

namespace sact::train {

void DeadUnits::see(const EpochNumbers& numbers, EpochReport& told) {
  const std::string before = text();
  dead_.clear();
  for (size_t block = 0; block < numbers.maxima.size(); ++block) {
    dead_.push_back(units_[block] - int(std::lround(numbers.maxima[block])));
  }
  const std::string now = text();
  if (now == before) return;
  if (now.empty()) {
    told.note = "no unit is dead any more";
  } else {
    told.warning = fmt::format(
        "{} of {} units are dead, no position reached them in epoch {} ({}); if that stays so, try "
        "warmup_epochs=1 or halting_rate=0.1",
        count(), total_, numbers.epoch, now);
  }
}

int DeadUnits::count() const {
  return std::accumulate(dead_.begin(), dead_.end(), 0);
}

std::string DeadUnits::text() const {
  std::vector<std::string> parts;
  for (size_t block = 0; block < dead_.size(); ++block) {
    const int last = units_[block], first = last - dead_[block] + 1;
    if (first > last) continue;
    parts.push_back(first == last
                        ? fmt::format("block {}: unit {}", block + 1, last)
                        : fmt::format("block {}: units {} to {}", block + 1, first, last));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace sact::train
