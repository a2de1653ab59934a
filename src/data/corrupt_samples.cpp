// Counting and naming unreadable samples.
#include "data/corrupt_samples.h"

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

void CorruptSamples::add(int64_t index, const std::string& problem) {
  if (!samples_.insert(index).second) return;
  if (count() > limit_) {
    fail("{} unreadable image{} more than the {} allowed; mend or remove them; the last: {}",
         count(), count() == 1 ? " is" : "s are", limit_, problem);
  }
  log_warning("left out: {}", problem);
}

void CorruptSamples::name_lost_classes(const Dataset& dataset) {
  if (looked_through_ == count()) return;
  looked_through_ = count();
  std::vector<int64_t> samples(size_t(dataset.classes())), unreadable(samples.size());
  for (int64_t index = 0; index < dataset.size(); ++index) {
    const size_t label = size_t(dataset.label(index));
    ++samples[label];
    unreadable[label] += samples_.contains(index);
  }
  for (size_t label = 0; label < samples.size(); ++label) {
    if (samples[label] == 0 || unreadable[label] < samples[label]) continue;
    if (!lost_classes_.insert(int(label)).second) continue;
    log_warning("class '{}' is lost: none of its {} can be read",
                printable(dataset.class_names()[label]), pluralize(samples[label], "image"));
  }
}

}  // namespace sact::data
