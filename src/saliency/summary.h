// Scores of images, and their means with standard errors.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sact::saliency {

enum Metric : size_t { kAucJudd, kNss, kCc, kSim, kKl, kAucBorji, kShuffledAuc, kMetricCount };

struct MetricName {
  std::string_view key;    // in JSON and CSV
  std::string_view title;  // in tables
};
inline constexpr std::array<MetricName, kMetricCount> kMetricNames = {{{"auc_judd", "AUC-Judd"},
                                                                       {"nss", "NSS"},
                                                                       {"cc", "CC"},
                                                                       {"sim", "SIM"},
                                                                       {"kl", "KL"},
                                                                       {"auc_borji", "AUC-Borji"},
                                                                       {"sauc", "sAUC"}}};

/// The score of one image by each metric; NaN where a metric has no answer.
using Scores = std::array<double, kMetricCount>;

/// `error` is the standard error over images: their standard deviation (n - 1) by the root of n;
/// NaN for a single one.
struct Mean {
  double mean = 0, error = 0;
};
Mean mean_of(std::span<const double> values);

struct Summary {
  size_t images = 0;
  std::array<Mean, kMetricCount> means;
};
Summary summarize(std::span<const Scores> scores);

/// Image by image: by how much `scores` are above `baseline`.
std::vector<Scores> differences(std::span<const Scores> scores, std::span<const Scores> baseline);

struct CategorySummary {
  std::string category;
  Summary summary;
};
/// `categories` of the images, those of one category side by side.
std::vector<CategorySummary> summarize_categories(std::span<const Scores> scores,
                                                  std::span<const std::string> categories);

}  // namespace sact::saliency
