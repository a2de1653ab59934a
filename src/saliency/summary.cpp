#include "saliency/summary.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace sact::saliency {

Mean mean_of(std::span<const double> values) {
  const double count = double(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() < 2) return {mean, std::numeric_limits<double>::quiet_NaN()};
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (count - 1) / count)};
}

Summary summarize(std::span<const Scores> scores) {
  Summary summary;
  summary.images = scores.size();
  for (size_t metric = 0; metric < kMetricCount; ++metric) {
    std::vector<double> values;
    for (const Scores& score : scores) values.push_back(score[metric]);
    summary.means[metric] = mean_of(values);
  }
  return summary;
}

std::vector<Scores> differences(std::span<const Scores> scores, std::span<const Scores> baseline) {
  SACT_ASSERT(scores.size() == baseline.size());
  std::vector<Scores> gains(scores.begin(), scores.end());
  for (size_t i = 0; i < gains.size(); ++i) {
    for (size_t metric = 0; metric < kMetricCount; ++metric) {
      gains[i][metric] -= baseline[i][metric];
    }
  }
  return gains;
}

std::vector<CategorySummary> summarize_categories(std::span<const Scores> scores,
                                                  std::span<const std::string> categories) {
  SACT_ASSERT(scores.size() == categories.size());
  std::vector<CategorySummary> all;
  for (size_t first = 0; first < scores.size();) {
    size_t last = first;
    while (last < scores.size() && categories[last] == categories[first]) ++last;
    all.push_back({categories[first], summarize(scores.subspan(first, last - first))});
    first = last;
  }
  return all;
}

}  // namespace sact::saliency
