// Tests of the order of an epoch and its division among workers.
#include "data/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace sact::data {
namespace {

using Order = std::vector<int64_t>;

Order pluralize(int64_t size) {
  Order order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), int64_t{0});
  return order;
}

TEST(EpochOrder, IsAPermutation) {
  for (const int64_t size : {0, 1, 2, 3, 10, 1000}) {
    Order order = epoch_order(size, 42, 3, true);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, pluralize(size)) << size;
  }
}

TEST(EpochOrder, DependsOnSeedAndEpochAndNothingElse) {
  const Order order = epoch_order(200, 7, 3, true);
  EXPECT_EQ(order, epoch_order(200, 7, 3, true));
  EXPECT_NE(order, epoch_order(200, 8, 3, true));
  EXPECT_NE(order, epoch_order(200, 7, 4, true));
  EXPECT_NE(order, pluralize(200));
}

TEST(EpochOrder, WithoutShufflingIsTheOrderOfTheSet) {
  EXPECT_EQ(epoch_order(5, 7, 3, false), pluralize(5));
}

TEST(EpochOrder, EverySampleComesFirstEquallyOften) {
  std::vector<int> first(6);
  constexpr int kEpochs = 6000;
  for (int epoch = 0; epoch < kEpochs; ++epoch) ++first[size_t(epoch_order(6, 1, epoch, true)[0])];
  // 1000 expected, standard deviation 29.
  for (const int count : first) EXPECT_NEAR(count, 1000, 150);
}

TEST(Shard, TrainingShardsHaveOneLengthAndWrapAround) {
  const Order order = {10, 11, 12, 13, 14, 15, 16};
  EXPECT_EQ(training_shard(order, 0, 3), (Order{10, 13, 16}));
  EXPECT_EQ(training_shard(order, 1, 3), (Order{11, 14, 10}));
  EXPECT_EQ(training_shard(order, 2, 3), (Order{12, 15, 11}));
  EXPECT_EQ(training_shard(order, 0, 1), order);
  EXPECT_EQ(training_shard({5}, 3, 4), (Order{5}));
  EXPECT_EQ(training_shard({5, 6}, 4, 5), (Order{5}));
}

TEST(Shard, BatchesOfAllRanksJoinToARunOfTheOrder) {
  const Order order = epoch_order(24, 1, 0, true);
  constexpr int kWorld = 3, kBatch = 4;
  for (size_t step = 0; step < 2; ++step) {
    Order joined;
    for (int rank = 0; rank < kWorld; ++rank) {
      const Order shard = training_shard(order, rank, kWorld);
      joined.insert(joined.end(), shard.begin() + ptrdiff_t(step * kBatch),
                    shard.begin() + ptrdiff_t((step + 1) * kBatch));
    }
    Order run(order.begin() + ptrdiff_t(step * 12), order.begin() + ptrdiff_t((step + 1) * 12));
    std::sort(joined.begin(), joined.end());
    std::sort(run.begin(), run.end());
    EXPECT_EQ(joined, run);
  }
}

TEST(Shard, EvaluationShardsCoverEverySampleExactlyOnce) {
  for (const int64_t size : {0, 1, 7, 24}) {
    for (const int world : {1, 2, 3, 10}) {
      Order all;
      for (int rank = 0; rank < world; ++rank) {
        const Order shard = evaluation_shard(epoch_order(size, 1, 0, true), rank, world);
        all.insert(all.end(), shard.begin(), shard.end());
      }
      std::sort(all.begin(), all.end());
      EXPECT_EQ(all, pluralize(size)) << size << " among " << world;
    }
  }
}

}  // namespace
}  // namespace sact::data
