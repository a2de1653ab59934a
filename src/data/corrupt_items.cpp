// Counting and naming unreadable items.
#include "data/corrupt_items.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"

namespace sact::data {

int64_t default_corrupt_limit(int64_t dataset_size) {
  return std::max<int64_t>(10, dataset_size / 100);
}

void CorruptItems::add(int64_t index, const std::string& problem) {
  if (!items_.insert(index).second) return;
  if (count() > limit_) {
    fail("{} unreadable image{} more than the {} allowed; mend or remove them; the last: {}",
         count(), count() == 1 ? " is" : "s are", limit_, problem);
  }
  log_warning("left out: {}", problem);
}

}  // namespace sact::data
