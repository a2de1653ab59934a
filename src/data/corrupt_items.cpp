// Counting and naming unreadable items.
#include "data/corrupt_items.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"

namespace sact::data {

int64_t corrupt_limit(int64_t dataset_size, double share) {
  return int64_t(std::ceil(double(dataset_size) * share));
}

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

void CorruptItems::name_lost_classes(const Dataset& dataset) {
  if (looked_through_ == count()) return;
  looked_through_ = count();
  std::vector<int64_t> items(size_t(dataset.classes())), unreadable(items.size());
  for (int64_t index = 0; index < dataset.size(); ++index) {
    const size_t label = size_t(dataset.label(index));
    ++items[label];
    unreadable[label] += items_.contains(index);
  }
  for (size_t label = 0; label < items.size(); ++label) {
    if (items[label] == 0 || unreadable[label] < items[label]) continue;
    if (!lost_classes_.insert(int(label)).second) continue;
    log_warning("class '{}' is lost: none of its {} can be read",
                printable(dataset.class_names()[label]), pluralize(items[label], "image"));
  }
}

}  // namespace sact::data
