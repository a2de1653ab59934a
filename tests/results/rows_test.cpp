// Which results make one row, and means over seeds.
#include "results/rows.h"

#include <gtest/gtest.h>

#include <cmath>

#include "examples.h"
#include "support/errors.h"

namespace sact::results {
namespace {

TEST(Rows, ArgumentIsSplitAtTheLastEqualsSign) {
  const NameAndFile split = split_argument("SACT:τ=0.005=runs/a.json");
  EXPECT_EQ(split.name, "SACT:τ=0.005");
  EXPECT_EQ(split.file, "runs/a.json");
  for (const char* wrong : {"a.json", "=a.json", "SACT=", ""}) {
    EXPECT_NE(test::error_of([&] { split_argument(wrong); }).find("NAME=FILE"), std::string::npos);
  }
}

TEST(Rows, SameNameMeansAnotherSeed) {
  const auto rows = rows_of({{"SACT:0.01", test::adaptive(0.5)},
                             {"plain", test::plain(0.6)},
                             {"SACT:0.01", test::adaptive(0.7)},
                             {"SACT:0.005", test::adaptive(0.8)}});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].name(), "SACT 0.01");
  EXPECT_EQ(rows[0].seeds.size(), 2u);
  EXPECT_EQ(rows[1].name(), "plain");
  EXPECT_EQ(rows[2].series, "SACT");
  EXPECT_EQ(rows[2].label, "0.005");
}

TEST(Rows, BaselineBelongsToItsSeries) {
  const auto rows = rows_of({{"SACT baseline:0.01", test::plain(0.5)},
                             {"baseline", test::plain(0.6)},
                             {"SACT", test::adaptive(0.6)}});
  EXPECT_TRUE(rows[0].is_baseline());
  EXPECT_EQ(rows[0].main_series(), "SACT");
  EXPECT_FALSE(rows[1].is_baseline()) << "of nothing";
  EXPECT_EQ(rows[1].main_series(), "baseline");
  EXPECT_FALSE(rows[2].is_baseline());
}

TEST(Rows, DifferentNetworksCannotShareAName) {
  EvalResult other = test::adaptive(0.5);
  other.sizes[0].units.pop_back();
  EXPECT_NE(test::error_of([&] {
              rows_of({{"A", test::adaptive(0.5)}, {"A", other}});
            }).find("'A'"),
            std::string::npos);
  EvalResult act = test::adaptive(0.5), sact = test::adaptive(0.5);
  act.spec.emplace().halting = Halting::kAct;
  sact.spec.emplace().halting = Halting::kSact;
  EXPECT_NE(test::error_of([&] {
              rows_of({{"A", act}, {"A", sact}});
            }).find("act and sact"),
            std::string::npos);
  test::error_of([] { rows_of({{":0.01", test::adaptive(0.5)}}); });
}

TEST(Rows, SpreadIsHalfTheRangeOfTwoAndTheDeviationOfMore) {
  EXPECT_EQ(seed_mean({0.5}).mean, 0.5);
  EXPECT_EQ(seed_mean({0.5}).spread, 0);
  EXPECT_DOUBLE_EQ(seed_mean({0.5, 0.75}).mean, 0.625);
  EXPECT_DOUBLE_EQ(seed_mean({0.75, 0.5}).spread, 0.125);
  EXPECT_DOUBLE_EQ(seed_mean({1, 2, 6}).mean, 3);
  EXPECT_DOUBLE_EQ(seed_mean({1, 2, 6}).spread, std::sqrt(7.0));
}

TEST(Rows, SummaryIsOfTheSeedsThatHaveTheSize) {
  EvalResult second = test::adaptive(0.7, {128});
  second.sizes[0].flops = {2.5e9, 3e8};
  second.sizes[0].units[1] = {2.75, 0.25};
  const auto rows = rows_of({{"A", test::adaptive(0.5, {128, 192})}, {"A", second}});
  const auto both = summary(rows[0], {128, 128});
  ASSERT_TRUE(both);
  EXPECT_EQ(both->seeds, 2);
  EXPECT_EQ(both->images, 1000);
  EXPECT_DOUBLE_EQ(both->accuracy.mean, 0.6);
  EXPECT_NEAR(both->accuracy.spread, 0.1, 1e-12);
  EXPECT_DOUBLE_EQ(both->recall5.mean, 0.8);
  EXPECT_DOUBLE_EQ(both->flops.mean, 2e9);
  EXPECT_DOUBLE_EQ(both->flops.std, 2e8);
  EXPECT_DOUBLE_EQ(both->units[1].mean, 2.5);
  EXPECT_DOUBLE_EQ(both->units[1].std, 0.5);
  EXPECT_FALSE(both->fixed_work());
  EXPECT_EQ(summary(rows[0], {192, 192})->seeds, 1);
  EXPECT_FALSE(summary(rows[0], {64, 64}));
  EXPECT_TRUE(summary(rows_of({{"P", test::plain(0.5)}})[0], {128, 128})->fixed_work());
}

TEST(Rows, SizesComeFromAllResultsInOrder) {
  const auto rows =
      rows_of({{"A", test::adaptive(0.5, {192, 128})}, {"B", test::adaptive(0.5, {160, 128})}});
  EXPECT_EQ(text_of(sizes_of(rows)), "128x128, 160x160, 192x192");
  EXPECT_EQ(text_of(chosen_sizes(rows, {}, sizes_of(rows))), "128x128, 160x160, 192x192");
  EXPECT_EQ(text_of(chosen_sizes(rows, {{160, 160}}, sizes_of(rows))), "160x160");
  const auto message = test::error_of([&] { chosen_sizes(rows, {{128, 160}}, sizes_of(rows)); });
  EXPECT_NE(message.find("160x160, 192x192"), std::string::npos) << message;
}

TEST(Rows, DifferentNumbersOfImagesRaiseDoubts) {
  EvalResult fewer = test::adaptive(0.5);
  fewer.sizes[0].images = 10;
  const auto rows = rows_of({{"A", test::adaptive(0.5)}, {"B", fewer}});
  EXPECT_NE(doubts(rows, {128, 128}).find("'A' was evaluated on 1000 images and 'B' on 10"),
            std::string::npos)
      << doubts(rows, {128, 128});
  EXPECT_EQ(doubts(rows, {64, 64}), "");
}

}  // namespace
}  // namespace sact::results
