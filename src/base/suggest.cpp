#include "base/suggest.h"

#include <algorithm>

#include "base/error.h"

namespace sact {

int edit_distance(std::string_view a, std::string_view b) {
  // Rows of the usual table; `before` is two rows up, for swapped neighbours.
  std::vector<int> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = int(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = int(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

std::string closest(std::string_view word, const std::vector<std::string>& known) {
  constexpr size_t kLongest = 100;  // nobody mistypes one longer, and the table grows with it
  if (word.size() > kLongest) return {};
  const int allowed = std::max(1, int(word.size()) / 3);
  std::string best;
  int least = allowed + 1;
  for (const std::string& candidate : known) {
    const int distance = edit_distance(word, candidate);
    // A word of which nothing is left was not meant.
    if (distance < least && distance < int(std::max(word.size(), candidate.size()))) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string meant = closest(word, known);
  return meant.empty() ? std::string() : fmt::format(" (did you mean '{}'?)", meant);
}

}  // namespace sact
