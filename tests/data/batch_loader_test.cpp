// Tests of the batch loader: contents, determinism, resuming, unreadable samples, threads.
#include "data/batch_loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/log.h"
#include "data/order.h"
#include "data/stored_sample.h"
#include "dataset_samples.h"
#include "io/resize.h"

namespace sact::data {
namespace {

using namespace sact::test;

std::vector<Batch> all_batches(BatchLoader& loader) {
  std::vector<Batch> batches;
  for (Batch batch; loader.next(batch);) batches.push_back(batch);
  return batches;
}

std::vector<Batch> all_batches(const Dataset& set, const Order& order,
                               const LoaderOptions& options) {
  BatchLoader loader(set, order, options);
  return all_batches(loader);
}

Order indices(const std::vector<Batch>& batches) {
  Order all;
  for (const Batch& batch : batches) {
    all.insert(all.end(), batch.indices.begin(), batch.indices.end());
  }
  return all;
}

void expect_equal(const std::vector<Batch>& a, const std::vector<Batch>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].first_position, b[i].first_position);
    EXPECT_EQ(a[i].next_position, b[i].next_position);
    EXPECT_EQ(a[i].count, b[i].count);
    EXPECT_EQ(a[i].pixels, b[i].pixels);
    EXPECT_EQ(a[i].labels, b[i].labels);
    EXPECT_EQ(a[i].aspects, b[i].aspects);
    EXPECT_EQ(a[i].boxes, b[i].boxes);
    EXPECT_EQ(a[i].indices, b[i].indices);
  }
}

TEST(Squash, SameSizeIsCopiedIntoPlanes) {
  io::RgbImage image(2, 1);
  image.rgb = {1, 2, 3, 101, 102, 103};
  std::vector<uint8_t> planes(6);
  squash(image, {1, 2}, planes.data());
  EXPECT_EQ(planes, (std::vector<uint8_t>{1, 101, 2, 102, 3, 103}));
}

TEST(Squash, OtherSizesAreRoundedToTheNearest) {
  io::RgbImage image(2, 1);
  image.rgb = {0, 10, 255, 1, 20, 254};  // means 0.5, 15, 254.5
  std::vector<uint8_t> planes(3);
  squash(image, {1, 1}, planes.data());
  EXPECT_EQ(planes, (std::vector<uint8_t>{1, 15, 255}));
}

TEST(BatchLoader, BatchesHoldTheSamplesOfTheOrder) {
  const FakeDataset set(10);
  const auto batches = all_batches(set, {7, 2, 9, 4, 0}, small_batches(2));
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(indices(batches), (Order{7, 2, 9, 4, 0}));
  EXPECT_EQ(batches[1].first_position, 2);
  EXPECT_EQ(batches[1].next_position, 4);
  EXPECT_EQ(batches[2].count, 1);
  EXPECT_EQ(batches[2].pixels.size(), 3u * 36);
  EXPECT_EQ(batches[0].labels, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(batches[0].aspects[0], 1.0f);           // sample 7 is 6 x 6
  EXPECT_EQ(batches[0].aspects[1], 7.0f / 6);       // sample 2 is 7 x 6
  EXPECT_EQ(batches[0].boxes[0], NormalizedBox{});  // none: the whole image
  // The larger of the two boxes of sample 2: 0.75 x 0.2 against 0.5 x 0.25.
  EXPECT_EQ(batches[0].boxes[1], (NormalizedBox{0.25f, 0.5f, 1, 0.7f}));
  const io::RgbImage image = set.load(7, 0).image;
  EXPECT_EQ(batches[0].pixels[36 * 2 + 8], image.pixel(2, 1)[2]);
  const auto resized = io::resize(set.load(2, 0).image, {0, 0, 7, 6}, {6, 6});
  for (size_t i = 0; i < resized.size(); ++i) {
    EXPECT_NEAR(batches[0].pixels[108 + i], resized[i], 0.5001) << i;
  }
}

TEST(BatchLoader, LastBatchCanBeDropped) {
  LoaderOptions options = small_batches(3);
  options.drop_last = true;
  EXPECT_EQ(indices(all_batches(FakeDataset(8), epoch_order(8, 0, 0, false), options)),
            (Order{0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(all_batches(FakeDataset(8), {1, 2}, options).empty());
}

TEST(BatchLoader, GivesTheSameWhateverTheNumberOfThreads) {
  const FakeDataset set(101, {5, 6, 50, 100});
  const Order order = epoch_order(101, 3, 1, true);
  for (const OnCorrupt on_corrupt : {OnCorrupt::kReplace, OnCorrupt::kSkip}) {
    LoaderOptions options = small_batches(7, 1);
    options.on_corrupt = on_corrupt;
    const auto expected = all_batches(set, order, options);
    for (const int threads : {2, 5}) {
      options.threads = threads;
      options.prefetch = threads;
      expect_equal(all_batches(set, order, options), expected);
    }
  }
}

TEST(BatchLoader, GoingOnInTheMiddleGivesTheTail) {
  const FakeDataset set(40, {3, 17});
  const Order order = epoch_order(40, 9, 0, true);
  LoaderOptions options = small_batches(6, 3);
  const auto whole = all_batches(set, order, options);
  options.first_position = whole[3].next_position;
  const auto tail = all_batches(set, order, options);
  expect_equal(tail, {whole.begin() + 4, whole.end()});
  options.first_position = 40;
  EXPECT_TRUE(all_batches(set, order, options).empty());
  options.first_position = 41;
  EXPECT_TRUE(
      says(error_of([&] { BatchLoader(set, order, options); }), "cannot go on at sample 41"));
}

TEST(BatchLoader, UnreadableSamplesAreReplacedByTheNextReadableOfTheOrder) {
  const FakeDataset set(6, {1, 2, 5});
  CaptureStderr();
  const auto batches = all_batches(set, {0, 1, 2, 3, 4, 5}, small_batches(2));
  const std::string output = GetCapturedStderr();
  EXPECT_EQ(indices(batches), (Order{0, 3, 3, 3, 4, 0}));  // the last goes on at the beginning
  EXPECT_EQ(batches[0].labels[1], 0);
  EXPECT_TRUE(says(output, "warning: left out: fake 1: is damaged\n")) << output;
  EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 3) << "each is named once: " << output;
}

TEST(BatchLoader, EvaluationSkipsUnreadableItems) {
  const FakeDataset set(9, {1, 3, 4, 5});
  LoaderOptions options = small_batches(3);
  options.on_corrupt = OnCorrupt::kSkip;
  BatchLoader loader(set, epoch_order(9, 0, 0, false), options);
  CaptureStderr();
  const auto batches = all_batches(loader);
  GetCapturedStderr();
  ASSERT_EQ(batches.size(), 2u) << "a batch without any sample is passed over";
  EXPECT_EQ(batches[0].indices, (Order{0, 2}));
  EXPECT_EQ(batches[0].pixels.size(), 2u * 108);
  EXPECT_EQ(batches[1].indices, (Order{6, 7, 8}));
  EXPECT_EQ(loader.corrupt_count(), 4);
  const auto clean = all_batches(FakeDataset(9), {0, 2}, options);
  EXPECT_EQ(batches[0].pixels, clean[0].pixels);
}

TEST(BatchLoader, TooManyUnreadableSamplesEndThePassWithTheLastOne) {
  const FakeDataset set(20, {2, 3, 11});
  for (const OnCorrupt on_corrupt : {OnCorrupt::kReplace, OnCorrupt::kSkip}) {
    LoaderOptions options = small_batches(4, 3);
    options.on_corrupt = on_corrupt;
    options.corrupt = std::make_shared<CorruptSamples>(2);
    BatchLoader loader(set, epoch_order(20, 0, 0, false), options);
    CaptureStderr();
    Batch batch;
    EXPECT_TRUE(loader.next(batch));
    EXPECT_TRUE(loader.next(batch));
    const std::string message = error_of([&] { loader.next(batch); });
    GetCapturedStderr();
    EXPECT_TRUE(says(message, "3 unreadable images are more than the 2 allowed")) << message;
    EXPECT_TRUE(says(message, "the last: fake 11")) << message;
    EXPECT_EQ(error_of([&] { loader.next(batch); }), message) << "and again";
  }
}

TEST(BatchLoader, PassesShareTheirCountAndNameAnSampleOnce) {
  const FakeDataset set(6, {1});
  LoaderOptions options = small_batches(2);
  options.corrupt = std::make_shared<CorruptSamples>(default_corrupt_limit(set.size()));
  CaptureStderr();
  for (int epoch = 0; epoch < 3; ++epoch) all_batches(set, epoch_order(6, 1, epoch, true), options);
  const std::string output = GetCapturedStderr();
  EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 1) << output;
  EXPECT_EQ(options.corrupt->count(), 1);
}

TEST(BatchLoader, NothingReadableIsAnErrorAndDoesNotHang) {
  const FakeDataset set(4, {0, 1, 2, 3});
  CaptureStderr();
  const std::string message = error_of([&] { all_batches(set, {0, 1, 2, 3}, small_batches(2)); });
  GetCapturedStderr();
  EXPECT_TRUE(says(message, "none of the 4 images can be read")) << message;
}

TEST(CorruptSamples, LimitIsOneHundredthButAtLeastTen) {
  EXPECT_EQ(default_corrupt_limit(50), 10);
  EXPECT_EQ(default_corrupt_limit(12894), 128);
}

TEST(BatchLoader, OtherExceptionsOfThreadsReachTheConsumer) {
  const FakeDataset set(30, {}, {13});
  BatchLoader loader(set, epoch_order(30, 0, 0, false), small_batches(5, 4));
  Batch batch;
  EXPECT_TRUE(loader.next(batch));
  EXPECT_TRUE(loader.next(batch));
  EXPECT_THROW(loader.next(batch), std::runtime_error);
  EXPECT_THROW(loader.next(batch), std::runtime_error);
}

/// Counts what was loaded, and takes its time.
class SlowDataset : public FakeDataset {
 public:
  using FakeDataset::FakeDataset;
  Sample load(int64_t index, int min_side) const override {
    ++loads;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return FakeDataset::load(index, min_side);
  }
  mutable std::atomic<int> loads = 0;
};

TEST(BatchLoader, PreparesNoMoreThanPrefetchAllows) {
  const SlowDataset set(1000);
  LoaderOptions options = small_batches(4, 3);
  options.prefetch = 2;
  auto settled_loads = [&](int expected) {
    for (int i = 0; i < 5000 && set.loads < expected; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // time to go too far
    return set.loads.load();
  };
  BatchLoader loader(set, epoch_order(1000, 0, 0, false), options);
  EXPECT_EQ(settled_loads(8), 8);
  Batch batch;
  EXPECT_TRUE(loader.next(batch));
  EXPECT_EQ(settled_loads(12), 12);
}

TEST(BatchLoader, CanBeDestroyedAtAnyMoment) {
  const SlowDataset set(100000, {1, 2, 3});
  LoaderOptions options = small_batches(8, 3);
  options.corrupt = std::make_shared<CorruptSamples>(1000);
  set_log_level(LogLevel::kQuiet);
  for (int batches = 0; batches < 6; ++batches) {
    BatchLoader loader(set, epoch_order(100000, 0, 0, false), options);
    Batch batch;
    for (int i = 0; i < batches; ++i) loader.next(batch);
  }
  set_log_level(LogLevel::kInfo);
  EXPECT_LT(set.loads, 6 * (5 + 4) * 8) << "went on after the end";
}

TEST(BatchLoader, AbsurdSettingsAreRefused) {
  const FakeDataset set(4);
  auto refusal = [&](auto change) {
    LoaderOptions options = small_batches(2);
    change(options);
    return error_of([&] { BatchLoader(set, {0, 1}, options); });
  };
  EXPECT_TRUE(says(refusal([](auto& o) { o.batch_size = 0; }), "batch size"));
  EXPECT_TRUE(says(refusal([](auto& o) { o.prefetch = 0; }), "prefetch"));
  EXPECT_TRUE(says(refusal([](auto& o) { o.threads = -1; }), "threads"));
  EXPECT_TRUE(says(refusal([](auto& o) { o.size = {0, 6}; }), "storage size"));
  EXPECT_TRUE(says(refusal([](auto& o) { o.size = {100000, 6}; }), "storage size"));
  EXPECT_TRUE(says(refusal([](auto& o) { o.batch_size = 2000000000; }), "do not fit in"));
}

TEST(CorruptSamples, AClassWithoutAReadableSampleIsNamedOnce) {
  const FakeDataset set(10);  // labels 0, 1, 2, 0, ...
  CorruptSamples corrupt(10);
  CaptureStderr();
  for (const int64_t index : {1, 4, 5}) corrupt.add(index, "damaged");
  corrupt.name_lost_classes(set);
  EXPECT_FALSE(says(GetCapturedStderr(), "lost")) << "sample 7 is of class 1 too";
  CaptureStderr();
  corrupt.add(7, "damaged");
  corrupt.name_lost_classes(set);
  corrupt.add(2, "damaged");
  corrupt.name_lost_classes(set);
  EXPECT_EQ(GetCapturedStderr(),
            "warning: left out: damaged\n"
            "warning: class 'one' is lost: none of its 3 images can be read\n"
            "warning: left out: damaged\n");
}

}  // namespace
}  // namespace sact::data
