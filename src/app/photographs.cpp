#include "app/photographs.h"

#include <algorithm>

#include "base/error.h"

namespace sact::app {

data::Sample Photographs::load(int64_t index, int) const {
  if (!at(index).error.empty()) fail("{}", at(index).error);
  return {read_input(at(index)), 0};
}

std::vector<int64_t> evenly(int64_t samples, int64_t count) {
  count = std::min(samples, count);
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < count; ++i) chosen.push_back(i * samples / count);
  return chosen;
}

}  // namespace sact::app
