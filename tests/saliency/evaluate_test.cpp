// The search, scores over images, and their summary.
#include "saliency/evaluate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "io/resize.h"
#include "saliency/metrics.h"
#include "support/errors.h"

namespace sact::saliency {
namespace {

constexpr Size kMapSize{12, 16}, kFixationSize{48, 64};

/// The highest pixels of the map that the planted settings give are where people "look".
struct Planted {
  std::vector<Map> ponder;
  std::vector<Fixations> fixations;
  Map center = center_gaussian(kMapSize);

  explicit Planted(const PostProcess& settings, size_t images = 6) {
    for (size_t i = 0; i < images; ++i) {
      Random random(i + 1);
      Map map(kMapSize.height, kMapSize.width);
      for (float& value : map.values) value = float(random.uniform());
      const Map full = io::resized(saliency_map(map, center, settings), kFixationSize);
      std::vector<float> sorted = full.values;
      std::sort(sorted.begin(), sorted.end());
      Map looked(full.height, full.width);
      for (size_t k = 0; k < full.values.size(); ++k) {
        looked.values[k] = full.values[k] > sorted[sorted.size() - 60] ? 1.0f : 0.0f;
      }
      ponder.push_back(map);
      fixations.push_back(fixations_of(looked, "planted"));
    }
  }
};

TEST(Search, FindsThePlantedSettings) {
  const std::vector<double> blurs = {0.5, 1, 2, 4}, weights = {0, 0.1, 0.3, 1};
  const auto settings = grid(blurs, weights);
  for (const size_t planted : {1u, 6u, 11u}) {
    const Planted data(settings[planted]);
    const auto scores = search(data.ponder, data.fixations, data.center, settings, {});
    EXPECT_EQ(best_of(scores), planted);
    EXPECT_GT(scores[planted], 0.99);
  }
}

TEST(Search, GivesTheScoresOfTheSaliencyMaps) {
  const auto settings = grid(std::vector<double>{0, 1, 3}, std::vector<double>{0, 0.1, 2});
  const Planted data({1, 0.1}, 3);
  const auto found = search(data.ponder, data.fixations, data.center, settings, {});
  for (size_t k = 0; k < settings.size(); ++k) {
    double mean = 0;
    for (size_t i = 0; i < 3; ++i) {
      const Map map = saliency_map(data.ponder[i], data.center, settings[k]);
      mean += auc_judd(io::resized(map, kFixationSize), data.fixations[i]) / 3;
    }
    EXPECT_NEAR(found[k], mean, 1e-4) << k;
  }
}

TEST(Search, DoesNotDependOnThreads) {
  const auto settings = grid(std::vector<double>{1, 2}, std::vector<double>{0.1, 0.2});
  const Planted data({1, 0.1});
  EXPECT_EQ(search(data.ponder, data.fixations, data.center, settings, {.threads = 1}),
            search(data.ponder, data.fixations, data.center, settings, {.threads = 3}));
}

/// Against the fixations of the images that other_images() names, all in one map.
double shuffled_auc_of(size_t image, const Map& map, const std::vector<Fixations>& fixations,
                       uint64_t seed) {
  std::vector<const Fixations*> others;
  for (const size_t other : other_images(image, fixations.size(), seed)) {
    others.push_back(&fixations[other]);
  }
  return auc_shuffled(map, fixations[image], joined(others, fixations[image].size),
                      {.seed = Random::derived(seed, image).bits()});
}

TEST(OtherImages, AreTenDifferentOnesAndNeverTheImageItself) {
  for (const size_t count : {12u, 40u, 1000u}) {
    for (const size_t image : {size_t{0}, count / 2, count - 1}) {
      std::vector<size_t> others = other_images(image, count, 3);
      EXPECT_EQ(others.size(), 10u);
      std::sort(others.begin(), others.end());
      EXPECT_EQ(std::unique(others.begin(), others.end()), others.end());
      EXPECT_EQ(std::count(others.begin(), others.end(), image), 0);
      EXPECT_LT(others.back(), count);
    }
  }
}

TEST(OtherImages, AreAllOthersWhereThereAreFew) {
  std::vector<size_t> others = other_images(2, 5, 7);
  std::sort(others.begin(), others.end());
  EXPECT_EQ(others, std::vector<size_t>({0, 1, 3, 4}));
  EXPECT_TRUE(other_images(0, 1, 7).empty());
}

TEST(OtherImages, EveryOneIsAsLikelyAsTheNext) {
  constexpr size_t kImages = 25, kSeeds = 6000;
  std::vector<int> chosen(kImages);
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const size_t other : other_images(4, kImages, seed)) ++chosen[other];
  }
  // Ten of 24: 2500 of 6000, with a standard deviation of 38.
  for (size_t i = 0; i < kImages; ++i) EXPECT_NEAR(chosen[i], i == 4 ? 0 : 2500, 190) << i;
}

TEST(OtherImages, DependOnSeedAndImageAlone) {
  EXPECT_EQ(other_images(4, 100, 1), other_images(4, 100, 1));
  EXPECT_NE(other_images(4, 100, 1), other_images(4, 100, 2));
  EXPECT_NE(other_images(4, 100, 1), other_images(5, 100, 1));
}

TEST(Score, GivesWhatTheMetricsGive) {
  const Planted data({1, 0.1});
  const MapOf ponder = [&](size_t i) { return data.ponder[i]; };
  const MapOf center = [&](size_t) { return data.center; };
  const auto scores = score({ponder, center}, data.fixations, {.density_sigma = 3}, {});
  ASSERT_EQ(scores.size(), 2u);
  for (size_t i = 0; i < data.fixations.size(); ++i) {
    const Map maps[] = {io::resized(data.ponder[i], kFixationSize),
                        io::resized(data.center, kFixationSize)};
    const Map wanted = density(data.fixations[i], 3);
    for (size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(scores[k][i][kAucJudd], auc_judd(maps[k], data.fixations[i]));
      EXPECT_EQ(scores[k][i][kNss], nss(maps[k], data.fixations[i]));
      EXPECT_EQ(scores[k][i][kCc], correlation(maps[k], wanted));
      EXPECT_EQ(scores[k][i][kSim], similarity(maps[k], wanted));
      EXPECT_EQ(scores[k][i][kKl], kl_divergence(maps[k], wanted));
      EXPECT_NEAR(scores[k][i][kAucBorji], scores[k][i][kAucJudd], 0.1);
      EXPECT_EQ(scores[k][i][kShuffledAuc], shuffled_auc_of(i, maps[k], data.fixations, 0));
    }
  }
  EXPECT_EQ(score({ponder}, data.fixations, {.density_sigma = 3}, {.threads = 1})[0], scores[0]);
  const auto seeded = score({ponder}, data.fixations, {.density_sigma = 3, .seed = 5}, {});
  EXPECT_EQ(seeded[0][0][kAucJudd], scores[0][0][kAucJudd]);
  EXPECT_NE(seeded[0][0][kAucBorji], scores[0][0][kAucBorji]);
}

TEST(Score, ASingleImageHasNoOthersToBeShuffledWith) {
  const Planted data({1, 0.1}, 1);
  const auto scores = score({[&](size_t) { return data.center; }}, data.fixations, {}, {});
  EXPECT_TRUE(std::isnan(scores[0][0][kShuffledAuc]));
  EXPECT_TRUE(std::isfinite(scores[0][0][kAucBorji]));
}

TEST(Score, InterruptionAndErrorsLeaveTheThreads) {
  const Planted data({1, 0.1});
  const MapOf center = [&](size_t) { return data.center; };
  const Work interrupted{2, [] { return true; }};
  EXPECT_THROW(score({center}, data.fixations, {}, interrupted), Interrupted);
  const MapOf broken = [&](size_t i) -> Map { throw Error("image " + std::to_string(i)); };
  EXPECT_EQ(test::error_of([&] { score({broken}, data.fixations, {}, {.threads = 3}); }),
            "image 0");
}

TEST(Summary, MeansAndStandardErrorsByHand) {
  const Mean mean = mean_of(std::vector<double>{1, 2, 6});
  EXPECT_DOUBLE_EQ(mean.mean, 3);
  EXPECT_NEAR(mean.error, std::sqrt(7.0 / 3), 1e-12);  // variance (4 + 1 + 9) / 2
  EXPECT_TRUE(std::isnan(mean_of(std::vector<double>{4}).error));
}

TEST(Summary, CategoriesAndGains) {
  std::vector<Scores> scores(3), baseline(3);
  for (size_t i = 0; i < 3; ++i) {
    scores[i].fill(double(i + 1));
    baseline[i].fill(i == 2 ? 5 : 0.5);
  }
  const std::vector<std::string> categories = {"A", "A", "B"};
  const auto all = summarize_categories(scores, categories);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].category, "A");
  EXPECT_EQ(all[0].summary.images, 2u);
  EXPECT_DOUBLE_EQ(all[0].summary.means[kNss].mean, 1.5);
  EXPECT_DOUBLE_EQ(all[1].summary.means[kNss].mean, 3);
  // 0.5, 1.5, -2: the gain's error is that of the differences, image by image.
  const Summary gain = summarize(differences(scores, baseline));
  EXPECT_NEAR(gain.means[kCc].mean, 0, 1e-12);
  EXPECT_NEAR(gain.means[kCc].error, std::sqrt(6.5 / 2 / 3), 1e-12);
}

TEST(Halting, OnlyMapsThatVaryWithinAnImageAreUsed) {
  ModelSpec spec;
  spec.halting = Halting::kSact;
  EXPECT_NO_THROW(check_halting(spec, "m"));
  spec.halting = Halting::kAct;
  EXPECT_NE(test::error_of([&] { check_halting(spec, "m"); }).find("'act'"), std::string::npos);
}

}  // namespace
}  // namespace sact::saliency
