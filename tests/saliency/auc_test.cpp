// The areas under ROC curves by hand, by slow direct formulas, and what must not change them.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "saliency/metrics.h"
#include "saliency/postprocess.h"
#include "saliency/samples.h"

namespace sact::saliency {
namespace {

double trapezoids(const std::vector<double>& x, const std::vector<double>& y) {
  double area = 0;
  for (size_t i = 1; i < x.size(); ++i) area += (x[i] - x[i - 1]) * (y[i] + y[i - 1]) / 2;
  return area;
}

double share_at_or_above(const std::vector<double>& values, double threshold) {
  const auto above =
      std::count_if(values.begin(), values.end(), [&](double value) { return value >= threshold; });
  return double(above) / double(values.size());
}

/// Straight from the definition: a threshold at the value of each fixation, from the highest down.
double direct_auc_judd(const Map& map, const Fixations& fixations) {
  std::vector<double> fixated, others;
  for (uint32_t i = 0; i < map.values.size(); ++i) {
    const bool hit =
        std::find(fixations.pixels.begin(), fixations.pixels.end(), i) != fixations.pixels.end();
    (hit ? fixated : others).push_back(map.values[i]);
  }
  std::vector<double> thresholds = fixated, x = {0}, y = {0};
  std::sort(thresholds.begin(), thresholds.end(), std::greater<>());
  for (const double threshold : thresholds) {
    x.push_back(share_at_or_above(others, threshold));
    y.push_back(share_at_or_above(fixated, threshold));
  }
  x.push_back(1);
  y.push_back(1);
  return trapezoids(x, y);
}

/// The loop of the authors' MATLAB code: at the threshold of the i-th fixation it counts i true
/// positives, also where others have the same value.
double authors_auc_judd(const Map& map, const Fixations& fixations) {
  std::vector<double> fixated, x = {0}, y = {0};
  for (const uint32_t pixel : fixations.pixels) fixated.push_back(map.values[pixel]);
  std::sort(fixated.begin(), fixated.end(), std::greater<>());
  const double count = double(fixated.size()), pixels = double(map.values.size());
  for (size_t i = 0; i < fixated.size(); ++i) {
    const auto above = std::count_if(map.values.begin(), map.values.end(),
                                     [&](float value) { return value >= fixated[i]; });
    y.push_back(double(i + 1) / count);
    x.push_back((double(above) - double(i + 1)) / (pixels - count));
  }
  x.push_back(1);
  y.push_back(1);
  return trapezoids(x, y);
}

TEST(AucJudd, ValuesByHand) {
  const Map map = row_map({5, 4, 3, 2, 1});
  // (0, 0), (0, 1/2), (1/3, 1), (1, 1)
  EXPECT_DOUBLE_EQ(auc_judd(map, fixations_at(map, {0, 2})), 11.0 / 12);
  // (0, 0), (1/3, 1/2), (1, 1): the lowest pixel is fixated.
  EXPECT_DOUBLE_EQ(auc_judd(map, fixations_at(map, {1, 4})), 1.0 / 12 + 1.0 / 2);
  EXPECT_DOUBLE_EQ(auc_judd(map, fixations_at(map, {0})), 1);
  EXPECT_DOUBLE_EQ(auc_judd(map, fixations_at(map, {4})), 0.5);
}

TEST(AucJudd, TiesByHand) {
  const Map map = row_map({2, 2, 2, 1, 1});
  // One threshold: both fixations and one of three others. (0, 0), (1/3, 1), (1, 1)
  EXPECT_DOUBLE_EQ(auc_judd(map, fixations_at(map, {0, 2})), 1.0 / 6 + 2.0 / 3);
  // The same pixels in another order are the same map to it.
  EXPECT_DOUBLE_EQ(auc_judd(row_map({1, 2, 2, 1, 2}), fixations_at(map, {2, 4})),
                   auc_judd(map, fixations_at(map, {0, 2})));
  EXPECT_DOUBLE_EQ(auc_judd(Map(3, 3, 7.0f), fixations_at(Map(3, 3), {2, 5})), 0.5);
}

TEST(AucJudd, EqualsTheDirectFormulaOnRandomMaps) {
  for (const int64_t levels : {2, 3, 12, 1 << 20}) {  // few levels are many ties
    for (uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(testing::Message() << levels << " levels, seed " << seed);
      const Map map = random_map(23, 31, levels, seed);
      const Fixations fixations = random_fixations(map, 1 + seed * 5, seed);
      EXPECT_NEAR(auc_judd(map, fixations), direct_auc_judd(map, fixations), 1e-12);
    }
  }
}

/// By how much the authors' loop is lower. At a threshold that k fixations share it counts one true
/// positive and k - 1 false ones too many, then steps back: (k - 1) / 2N of the step to the right,
/// k pixels longer, is lost.
double lost_by_ties(const Map& map, const Fixations& fixations) {
  std::vector<float> fixated;
  for (const uint32_t pixel : fixations.pixels) fixated.push_back(map.values[pixel]);
  std::sort(fixated.begin(), fixated.end(), std::greater<>());
  const double count = double(fixated.size()), others = double(map.values.size()) - count;
  double lost = 0, last = 0;
  for (auto first = fixated.begin(); first != fixated.end();) {
    const float value = *first;
    const auto end = std::find_if(first, fixated.end(), [&](float v) { return v != value; });
    const auto above =
        std::count_if(map.values.begin(), map.values.end(), [&](float v) { return v >= value; });
    const double ties = double(end - first);
    const double x = (double(above) - double(end - fixated.begin())) / others;
    lost += (ties - 1) / (2 * count) * (x - last + ties / others);
    last = x;
    first = end;
  }
  return lost;
}

TEST(AucJudd, TheAuthorsLoopIsLowerByWhatItLosesToTies) {
  for (const int64_t levels : {2, 3, 12, 200}) {
    for (uint64_t seed = 0; seed < 10; ++seed) {
      SCOPED_TRACE(testing::Message() << levels << " levels, seed " << seed);
      const Map map = random_map(23, 31, levels, seed);
      const Fixations fixations = random_fixations(map, 2 + seed * 5, seed);
      EXPECT_NEAR(auc_judd(map, fixations) - authors_auc_judd(map, fixations),
                  lost_by_ties(map, fixations), 1e-12);
    }
  }
}

TEST(AucJudd, EqualsTheAuthorsLoopWhereFixatedValuesDiffer) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Map map(17, 29);
    for (size_t i = 0; i < map.values.size(); ++i) map.values[i] = float(i);
    Random random(seed);
    for (size_t i = map.values.size(); i > 1; --i) {
      std::swap(map.values[i - 1], map.values[size_t(random.below(int64_t(i)))]);
    }
    const Fixations fixations = random_fixations(map, 25, seed);
    EXPECT_NEAR(auc_judd(map, fixations), authors_auc_judd(map, fixations), 1e-12);
  }
}

TEST(AucJudd, CrowdedAndWideValuesAreCountedRight) {
  for (const float outlier : {1e30f, -1e30f, 1e-40f}) {
    Map map = random_map(20, 20, 50, 3);
    for (float& value : map.values) value *= 1e-3f;
    map.values[7] = outlier;
    Fixations fixations = random_fixations(map, 60, 4);
    if (std::find(fixations.pixels.begin(), fixations.pixels.end(), 7u) == fixations.pixels.end()) {
      fixations.pixels.insert(fixations.pixels.begin(), 7u);
      std::sort(fixations.pixels.begin(), fixations.pixels.end());
    }
    EXPECT_NEAR(auc_judd(map, fixations), direct_auc_judd(map, fixations), 1e-12) << outlier;
  }
}

TEST(AucJudd, DoesNotChangeUnderMonotoneTransforms) {
  const Map map = random_map(30, 40, 200, 5);
  const Fixations fixations = random_fixations(map, 50, 5);
  const double auc = auc_judd(map, fixations);
  const std::function<float(float)> transforms[] = {
      [](float v) { return 3 * v - 7; }, [](float v) { return v * v * v; },
      [](float v) { return std::sqrt(v); }, [](float v) { return std::exp(v / 8); }};
  for (const auto& transform : transforms) {
    Map changed = map;
    for (float& value : changed.values) value = transform(value);
    EXPECT_DOUBLE_EQ(auc_judd(changed, fixations), auc);
  }
  Map falling = map;
  for (float& value : falling.values) value = -value;
  EXPECT_GT(std::abs(auc_judd(falling, fixations) - auc), 1e-3);
}

TEST(AucJudd, JitterPartsEqualValuesAndKeepsTheOrderOfOthers) {
  const Map map = random_map(10, 10, 5, 1);
  const Map parted = jittered(map, 3);
  std::vector<float> values = parted.values;
  std::sort(values.begin(), values.end());
  EXPECT_GT(std::unique(values.begin(), values.end()) - values.begin(), 60);
  for (size_t i = 0; i < map.values.size(); ++i) {
    EXPECT_NEAR(parted.values[i], map.values[i], 5e-6);
  }
  EXPECT_EQ(jittered(map, 3).values, parted.values);
  EXPECT_NE(jittered(map, 4).values, parted.values);
}

/// The authors' AUC-Borji for given values on the scale from 0 to 1.
double direct_stepped_auc(const std::vector<double>& fixated, const std::vector<double>& drawn) {
  const double highest = std::max(*std::max_element(fixated.begin(), fixated.end()),
                                  *std::max_element(drawn.begin(), drawn.end()));
  std::vector<double> x = {0}, y = {0};
  for (int i = int(highest / 0.1 + 1e-9); i >= 0; --i) {
    x.push_back(share_at_or_above(drawn, i * 0.1));
    y.push_back(share_at_or_above(fixated, i * 0.1));
  }
  x.push_back(1);
  y.push_back(1);
  return trapezoids(x, y);
}

TEST(AucBorji, EqualsTheDirectFormulaForTheSameDraws) {
  const Map map = random_map(12, 15, 1000, 8), unit = normalized(map);
  const Fixations fixations = random_fixations(map, 20, 8);
  std::vector<double> fixated;
  for (const uint32_t pixel : fixations.pixels) fixated.push_back(unit.values[pixel]);
  Random random(77);
  double sum = 0;
  for (int split = 0; split < 5; ++split) {
    std::vector<double> drawn;
    for (int i = 0; i < 20; ++i) drawn.push_back(unit.values[size_t(random.below(180))]);
    sum += direct_stepped_auc(fixated, drawn);
  }
  EXPECT_NEAR(auc_borji(map, fixations, {.splits = 5, .seed = 77}), sum / 5, 1e-6);
}

/// The fixated values and those of `pixels`, all on the scale from 0 to 1.
double direct_stepped_auc(const Map& map, const Fixations& fixations,
                          const std::vector<uint32_t>& pixels) {
  const Map unit = normalized(map);
  std::vector<double> fixated, drawn;
  for (const uint32_t pixel : fixations.pixels) fixated.push_back(unit.values[pixel]);
  for (const uint32_t pixel : pixels) drawn.push_back(unit.values[pixel]);
  return direct_stepped_auc(fixated, drawn);
}

// The area is linear in the share of negatives above each threshold, so that its mean over draws is
// the area for all pixels that are drawn from.
TEST(AucBorji, TheMeanOfManyDrawsIsTheAreaForAllPixels) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    SCOPED_TRACE(seed);
    const Map map = uniform_map(12, 15, seed);
    const Fixations fixations = random_fixations(map, 20, seed);
    std::vector<uint32_t> all(map.values.size());
    std::iota(all.begin(), all.end(), 0u);
    EXPECT_NEAR(auc_borji(map, fixations, {.splits = 20'000, .seed = seed}),
                direct_stepped_auc(map, fixations, all), 3e-3);
  }
}

TEST(AucBorji, TheHighestPixelReachesTheHighestThreshold) {
  for (uint64_t seed = 0; seed < 50; ++seed) {  // of all these ranges 1 must be made
    const Map map = uniform_map(3, 4, seed);
    const auto highest = std::max_element(map.values.begin(), map.values.end());
    const auto pixel = uint32_t(highest - map.values.begin());
    // Fixated alone, it is above all but itself: its share of the draws costs half of it.
    EXPECT_NEAR(
        auc_borji(map, fixations_at(map, {pixel}), {.splits = 20'000, .seed = seed}),
        direct_stepped_auc(map, fixations_at(map, {pixel}), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}),
        0.01)
        << seed;
  }
}

TEST(AucBorji, SeedsNameTheDraws) {
  const Map map = random_map(40, 40, 1000, 2);
  const Fixations fixations = random_fixations(map, 30, 2);
  const double score = auc_borji(map, fixations, {.seed = 1});
  EXPECT_EQ(auc_borji(map, fixations, {.seed = 1}), score);
  EXPECT_NE(auc_borji(map, fixations, {.seed = 2}), score);
  EXPECT_NEAR(auc_borji(map, fixations, {.seed = 2}), score, 0.05);
  EXPECT_DOUBLE_EQ(auc_borji(Map(9, 9, 3.0f), fixations_at(Map(9, 9), {4})), 0.5);
}

TEST(AucShuffled, ValuesByHand) {
  const Map map = row_map({0, 0.25f, 0.5f, 1});
  // All others are drawn, so that chance has no part. (0, 1/2), (1/2, 1/2), (1, 1/2), (1, 1)
  EXPECT_DOUBLE_EQ(auc_shuffled(map, fixations_at(map, {0, 3}), fixations_at(map, {1, 2})), 0.5);
  EXPECT_DOUBLE_EQ(auc_shuffled(map, fixations_at(map, {2, 3}), fixations_at(map, {0, 1})), 1);
  EXPECT_DOUBLE_EQ(auc_shuffled(map, fixations_at(map, {0, 1}), fixations_at(map, {2, 3})), 0);
  // Others may have looked everywhere.
  EXPECT_GT(auc_shuffled(map, fixations_at(map, {2, 3}), fixations_at(map, {0, 1, 2, 3})), 0.5);
}

TEST(AucShuffled, EqualsTheDirectFormulaWhereAllOthersAreDrawn) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const Map map = seed % 2 ? uniform_map(14, 21, seed) : random_map(14, 21, 6, seed);
    const Fixations fixations = random_fixations(map, 30, seed);
    const Fixations others = random_fixations(map, 1 + seed, seed + 100);
    EXPECT_NEAR(auc_shuffled(map, fixations, others, {.splits = 3, .seed = seed}),
                direct_stepped_auc(map, fixations, others.pixels), 1e-6);
  }
}

TEST(AucShuffled, TheMeanOfManyDrawsIsTheAreaForAllOthers) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    SCOPED_TRACE(seed);
    const Map map = uniform_map(12, 15, seed);
    const Fixations fixations = random_fixations(map, 12, seed);
    const Fixations others = random_fixations(map, 60, seed + 100);
    const Sampling once{.splits = 1, .seed = seed}, often{.splits = 20'000, .seed = seed};
    EXPECT_NEAR(auc_shuffled(map, fixations, others, often),
                direct_stepped_auc(map, fixations, others.pixels), 3e-3);
    EXPECT_NE(auc_shuffled(map, fixations, others, once),
              auc_shuffled(map, fixations, others, often));
  }
}

TEST(AucShuffled, ACentreMapGainsNothingFromACentreBias) {
  const Map map = center_gaussian({60, 80}, 0.2);
  const auto central = [&](uint64_t seed) {
    Random random(seed);
    std::vector<uint32_t> pixels;
    for (int i = 0; i < 150; ++i) {
      const int y = std::clamp(int(30 + 9 * random.normal()), 0, 59);
      const int x = std::clamp(int(40 + 12 * random.normal()), 0, 79);
      pixels.push_back(uint32_t(y * 80 + x));
    }
    std::sort(pixels.begin(), pixels.end());
    pixels.erase(std::unique(pixels.begin(), pixels.end()), pixels.end());
    return fixations_at(map, pixels);
  };
  EXPECT_GT(auc_judd(map, central(1)), 0.75);
  EXPECT_NEAR(auc_shuffled(map, central(1), central(2)), 0.5, 0.06);
}

}  // namespace
}  // namespace sact::saliency
