// NSS, CC, SIM and KL by hand, by slow direct formulas, and what must not change them.
#include "saliency/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "saliency/samples.h"

namespace sact::saliency {
namespace {

/// Pairs of random maps of different shapes, ranges and signs.
struct Pair {
  Map map, density;
};

std::vector<Pair> random_pairs() {
  std::vector<Pair> pairs;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const int height = 3 + int(seed) * 2, width = 17 - int(seed);
    Pair pair{uniform_map(height, width, seed), uniform_map(height, width, seed + 50)};
    for (float& value : pair.map.values) value = 40 * value * value + float(seed % 3);
    // Fixations are rare: most of their density is next to nothing, and some is none.
    for (float& value : pair.density.values) value = std::max(0.0f, value * value * value - 0.1f);
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

std::vector<double> doubles(const Map& map) {
  return {map.values.begin(), map.values.end()};
}

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

std::vector<double> divided(std::vector<double> values, double by) {
  for (double& value : values) value /= by;
  return values;
}

/// From 0 to 1.
std::vector<double> stretched(std::vector<double> values) {
  const double low = *std::min_element(values.begin(), values.end());
  for (double& value : values) value -= low;
  return divided(values, *std::max_element(values.begin(), values.end()));
}

double direct_nss(const Map& map, const Fixations& fixations) {
  const std::vector<double> values = doubles(map);
  const double n = double(values.size()), mean = sum_of(values) / n;
  double variance = 0;
  for (const double value : values) variance += (value - mean) * (value - mean) / (n - 1);
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool looked = std::count(fixations.pixels.begin(), fixations.pixels.end(), i) > 0;
    if (looked) sum += (values[i] - mean) / std::sqrt(variance);
  }
  return sum / double(fixations.pixels.size());
}

TEST(Nss, EqualsTheDirectFormulaOnRandomMaps) {
  uint64_t seed = 0;
  for (const Pair& pair : random_pairs()) {
    SCOPED_TRACE(++seed);
    const Fixations fixations = random_fixations(pair.map, 2 + seed, seed);
    EXPECT_NEAR(nss(pair.map, fixations), direct_nss(pair.map, fixations), 1e-9);
  }
}

/// By raw sums: n sum(xy) - sum(x) sum(y) over the roots of the same with xx and yy.
double direct_correlation(const Map& a, const Map& b) {
  const std::vector<double> x = doubles(a), y = doubles(b);
  const double n = double(x.size());
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += x[i] * y[i];
    xx += x[i] * x[i];
    yy += y[i] * y[i];
  }
  return (n * xy - sum_of(x) * sum_of(y)) / std::sqrt(n * xx - sum_of(x) * sum_of(x)) /
         std::sqrt(n * yy - sum_of(y) * sum_of(y));
}

TEST(Correlation, EqualsTheDirectFormulaOnRandomMaps) {
  for (const auto& [map, density] : random_pairs()) {
    EXPECT_NEAR(correlation(map, density), direct_correlation(map, density), 1e-9);
  }
}

double direct_similarity(const Map& a, const Map& b) {
  std::vector<double> x = stretched(doubles(a)), y = stretched(doubles(b));
  x = divided(x, sum_of(x));
  y = divided(y, sum_of(y));
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += x[i] < y[i] ? x[i] : y[i];
  return sum;
}

TEST(Similarity, EqualsTheDirectFormulaOnRandomMaps) {
  for (const auto& [map, density] : random_pairs()) {
    EXPECT_NEAR(similarity(map, density), direct_similarity(map, density), 1e-9);
    EXPECT_NEAR(similarity(map, density), similarity(density, map), 1e-9);
  }
}

double direct_kl(const Map& a, const Map& b) {
  const double epsilon = std::numeric_limits<double>::epsilon();
  std::vector<double> x = doubles(a), y = doubles(b);
  x = divided(x, sum_of(x));
  y = divided(y, sum_of(y));
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += y[i] * std::log(epsilon + y[i] / (x[i] + epsilon));
  return sum;
}

TEST(KlDivergence, EqualsTheDirectFormulaOnRandomMaps) {
  for (const auto& [map, density] : random_pairs()) {
    EXPECT_NEAR(kl_divergence(map, density), direct_kl(map, density), 1e-9);
    EXPECT_GT(std::abs(kl_divergence(map, density) - direct_kl(density, map)), 1e-3)
        << "it is not the same the other way round";
  }
}

TEST(Nss, ValuesByHand) {
  const Map map = row_map({1, 2, 3, 4});
  EXPECT_NEAR(nss(map, fixations_at(map, {3})), 1.5 / std::sqrt(5.0 / 3), 1e-12);
  EXPECT_NEAR(nss(map, fixations_at(map, {0, 3})), 0, 1e-12);
  EXPECT_EQ(nss(Map(2, 2, 5.0f), fixations_at(Map(2, 2), {1})), 0);
}

TEST(Nss, DoesNotChangeUnderAffineTransforms) {
  const Map map = random_map(30, 40, 1 << 16, 6);
  const Fixations fixations = random_fixations(map, 40, 6);
  Map changed = map;
  for (float& value : changed.values) value = 0.5f * value + 3;
  EXPECT_NEAR(nss(changed, fixations), nss(map, fixations), 1e-9);
  for (float& value : changed.values) value = -value;
  EXPECT_NEAR(nss(changed, fixations), -nss(map, fixations), 1e-9);
}

TEST(Correlation, ValuesByHand) {
  EXPECT_NEAR(correlation(row_map({1, 2, 3, 4}), row_map({1, 3, 2, 4})), 0.8, 1e-12);
  EXPECT_NEAR(correlation(row_map({1, 2, 3}), row_map({-5, -7, -9})), -1, 1e-12);
  EXPECT_EQ(correlation(Map(1, 3, 2.0f), row_map({1, 2, 3})), 0);
}

TEST(Similarity, ValuesByHand) {
  // [0 1/4 1/4 1/2] and [1/2 1/4 1/4 0]
  EXPECT_NEAR(similarity(row_map({0, 1, 1, 2}), row_map({2, 1, 1, 0})), 0.5, 1e-12);
  EXPECT_NEAR(similarity(row_map({3, 5, 5, 7}), row_map({2, 1, 1, 0})), 0.5, 1e-12);
  EXPECT_NEAR(similarity(row_map({1, 2, 4}), row_map({1, 2, 4})), 1, 1e-12);
  EXPECT_NEAR(similarity(Map(1, 4, 3.0f), row_map({0, 1, 1, 2})), 0.75, 1e-12);
}

TEST(KlDivergence, ValuesByHand) {
  EXPECT_NEAR(kl_divergence(row_map({1, 1, 2, 4}), row_map({3, 3, 3, 3})), std::log(2) / 4, 1e-12);
  EXPECT_NEAR(kl_divergence(row_map({1, 1, 2, 4}), row_map({2, 2, 4, 8})), 0, 1e-12);
  EXPECT_NEAR(kl_divergence(row_map({0, 0, 0, 0}), row_map({1, 0, 1, 0})), std::log(2), 1e-12);
  EXPECT_GT(kl_divergence(row_map({0, 1}), row_map({1, 1})), 10) << "looked at, and ruled out";
}

}  // namespace
}  // namespace sact::saliency
