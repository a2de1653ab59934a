// Tests of the set kept in memory: equal to direct decoding, memory checked first.
#include "data/decoded_set.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "data/batch_loader.h"
#include "data/order.h"
#include "dataset_samples.h"

namespace sact::data {
namespace {

using namespace sact::test;

DecodeOptions small(int threads) {
  DecodeOptions options;
  options.size = {6, 6};
  options.threads = threads;
  return options;
}

TEST(DecodedSet, BatchesEqualThoseDecodedDirectly) {
  const FakeDataset set(33, {4, 5, 20});
  const Order order = epoch_order(33, 2, 0, true);
  for (const int threads : {1, 4}) {
    const DecodedSet decoded(set, small(threads));
    for (const OnCorrupt on_corrupt : {OnCorrupt::kReplace, OnCorrupt::kSkip}) {
      LoaderOptions options = small_batches(5, threads);
      options.on_corrupt = on_corrupt;
      BatchLoader direct(set, order, options), cached(decoded, order, options);
      Batch a, b;
      while (direct.next(a)) {
        ASSERT_TRUE(cached.next(b));
        EXPECT_EQ(a.pixels, b.pixels);
        EXPECT_EQ(a.labels, b.labels);
        EXPECT_EQ(a.aspects, b.aspects);
        EXPECT_EQ(a.boxes, b.boxes);
        EXPECT_EQ(a.indices, b.indices);
        EXPECT_EQ(a.first_position, b.first_position);
      }
      EXPECT_FALSE(cached.next(b));
    }
  }
}

TEST(DecodedSet, IsOneBlockByIndex) {
  const FakeDataset set(7, {3});
  const DecodedSet decoded(set, small(2));
  ASSERT_EQ(decoded.count(), 7);
  ASSERT_EQ(decoded.pixels().size(), 7u * 108);
  std::vector<uint8_t> planes(108);
  const StoredSample sample = store_sample(set, 5, {6, 6}, planes.data());
  EXPECT_TRUE(std::equal(planes.begin(), planes.end(), decoded.pixels().begin() + 5 * 108));
  EXPECT_EQ(decoded.labels()[5], sample.label);
  EXPECT_EQ(decoded.aspects()[5], sample.aspect);
  EXPECT_EQ(decoded.boxes()[5], NormalizedBox{});
  EXPECT_EQ(decoded.boxes()[6], (NormalizedBox{0, 0, 0.5f, 0.25f}));
  EXPECT_FALSE(decoded.readable(3));
  EXPECT_TRUE(decoded.readable(5));
  EXPECT_EQ(std::count(decoded.pixels().begin() + 3 * 108, decoded.pixels().begin() + 4 * 108, 0),
            108);
  EXPECT_TRUE(says(error_of([&] { decoded.copy(3, planes.data()); }), "fake 3"));
}

TEST(DecodedSet, ReadableOrderIsTheOrderOfTheLoader) {
  const FakeDataset set(20, {4, 5, 19});
  const DecodedSet decoded(set, small(2));
  const Order order = {18, 19, 4, 5, 7, 4};
  EXPECT_EQ(decoded.readable_order(order, OnCorrupt::kReplace), (Order{18, 7, 7, 7, 7, 18}));
  EXPECT_EQ(decoded.readable_order(order, OnCorrupt::kSkip), (Order{18, 7}));
  EXPECT_TRUE(says(error_of([&] {
                     decoded.readable_order({4, 5}, OnCorrupt::kReplace);
                   }),
                   "fake 5"));
  EXPECT_EQ(decoded.readable_order({4, 5}, OnCorrupt::kSkip), Order{});
  BatchLoader loader(set, order, small_batches(6));
  Batch batch;
  ASSERT_TRUE(loader.next(batch));
  EXPECT_EQ(batch.indices, decoded.readable_order(order, OnCorrupt::kReplace));
}

TEST(DecodedSet, UnreadableSamplesAreNamedOnceInOrderAndNotAgainByLoaders) {
  const FakeDataset set(12, {8, 2});
  CaptureStderr();
  const DecodedSet decoded(set, small(3));
  Batch batch;
  BatchLoader loader(decoded, epoch_order(12, 0, 0, false), small_batches(5));
  while (loader.next(batch)) continue;
  EXPECT_EQ(GetCapturedStderr(),
            "warning: left out: fake 2: is damaged\nwarning: left out: fake 8: is damaged\n");
  EXPECT_EQ(loader.corrupt_count(), 2);
}

TEST(DecodedSet, TooManyUnreadableSamplesAreAnError) {
  DecodeOptions options = small(3);
  options.corrupt = std::make_shared<CorruptSamples>(1);
  CaptureStderr();
  const std::string message = error_of([&] { DecodedSet(FakeDataset(100, {7, 70}), options); });
  GetCapturedStderr();
  EXPECT_TRUE(says(message, "2 unreadable images are more than the 1 allowed")) << message;
}

TEST(DecodedSet, MemoryIsCheckedBeforeAnyWork) {
  DecodeOptions options;
  options.size = {160, 160};
  options.max_bytes = 10'000'000;
  const FakeDataset broken(1000, {}, {0});  // would throw something else when it were touched
  const std::string message = error_of([&] { DecodedSet(broken, options); });
  EXPECT_TRUE(says(message, "1 000 images of 160x160 take 73.2 MiB")) << message;
  EXPECT_TRUE(says(message, "storage size of 57 or less")) << message;
  options.max_bytes = 0;
  options.size = {8192, 8192};
  EXPECT_TRUE(says(error_of([&] { DecodedSet(FakeDataset(1'000'000'000), options); }), "are free"));
  options.max_bytes = 1000;
  EXPECT_TRUE(says(error_of([&] { DecodedSet(broken, options); }), "do without the cache"));
}

TEST(DecodedSet, OtherExceptionsReachTheCaller) {
  EXPECT_THROW(DecodedSet(FakeDataset(50, {}, {20}), small(3)), std::runtime_error);
}

TEST(DecodedSet, CanBeInterrupted) {
  DecodeOptions options = small(2);
  options.interrupted = [] { return true; };
  EXPECT_TRUE(says(error_of([&] { DecodedSet(FakeDataset(300'000), options); }), "interrupted"));
}

}  // namespace
}  // namespace sact::data
