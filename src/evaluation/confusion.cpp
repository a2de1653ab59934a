#include "evaluation/confusion.h"

#include <algorithm>

namespace sact::evaluation {

std::vector<ConfusionCell> Confusion::cells() const {
  std::vector<ConfusionCell> cells;
  for (const auto& [pair, images] : counts_) cells.push_back({pair.first, pair.second, images});
  return cells;
}

std::vector<ClassAccuracy> Confusion::by_class() const {
  std::vector<ClassAccuracy> classes;
  for (const ConfusionCell& cell : cells()) {
    if (classes.empty() || classes.back().label != cell.label) classes.push_back({cell.label});
    ClassAccuracy& found = classes.back();
    found.images += cell.images;
    if (cell.answer == cell.label) {
      found.correct += cell.images;
    } else if (cell.images > found.taken) {
      found.taken_for = cell.answer;
      found.taken = cell.images;
    }
  }
  std::stable_sort(
      classes.begin(), classes.end(),
      [](const ClassAccuracy& a, const ClassAccuracy& b) { return a.accuracy() < b.accuracy(); });
  return classes;
}

std::vector<ConfusionCell> Confusion::most_confused(size_t pairs) const {
  std::vector<ConfusionCell> confused = cells();
  std::erase_if(confused, [](const ConfusionCell& cell) { return cell.label == cell.answer; });
  std::stable_sort(
      confused.begin(), confused.end(),
      [](const ConfusionCell& a, const ConfusionCell& b) { return a.images > b.images; });
  confused.resize(std::min(confused.size(), pairs));
  return confused;
}

}  // namespace sact::evaluation
