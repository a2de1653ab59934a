// Which classes are taken for which: accuracy by class, and the pairs that are confused most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace sact::evaluation {

/// Images of one class that were taken for one class, perhaps the same.
struct ConfusionCell {
  int label = 0, answer = 0;
  int64_t images = 0;
  bool operator==(const ConfusionCell&) const = default;
};

struct ClassAccuracy {
  int label = 0;
  int64_t images = 0, correct = 0;
  int taken_for = -1;  // the other class that was answered most often; -1: none
  int64_t taken = 0;   // how often

  double accuracy() const { return double(correct) / double(images); }
};

/// Holds what occurs and nothing else: a thousand classes have a million pairs.
class Confusion {
 public:
  void add(int label, int answer, int64_t images = 1) { counts_[{label, answer}] += images; }

  /// By label, then by answer.
  std::vector<ConfusionCell> cells() const;
  /// Every class that has images, the least accurate first.
  std::vector<ClassAccuracy> by_class() const;
  /// The pairs of different classes with the most images, those first.
  std::vector<ConfusionCell> most_confused(size_t pairs) const;
  bool empty() const { return counts_.empty(); }

 private:
  std::map<std::pair<int, int>, int64_t> counts_;
};

}  // namespace sact::evaluation
