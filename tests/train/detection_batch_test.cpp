// Pictures of several shapes in one batch: each has the numbers that it has alone.
#include "train/detect/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "train/detect/loss.h"
#include "train/random_network.h"

namespace sact::train {
namespace {

const std::vector<Size> kSizes = {{64, 83}, {71, 96}, {49, 64}, {96, 50}};
constexpr Size kPadded = {97, 101};

/// Images in the first rows and columns; what is beyond them is noise that must not matter.
torch::Tensor padded_images(uint64_t seed) {
  return test::random_images(int64_t(kSizes.size()), kPadded.height, kPadded.width, seed)
      .to(torch::kFloat64);
}

torch::Tensor own(const torch::Tensor& batch, int64_t image, Size size) {
  return batch.narrow(0, image, 1).narrow(2, 0, size.height).narrow(3, 0, size.width);
}

/// Gradients end to end; zeros for what has none.
torch::Tensor gradients(torch::nn::Module& module) {
  std::vector<torch::Tensor> flat;
  for (const torch::Tensor& parameter : module.parameters()) {
    flat.push_back((parameter.grad().defined() ? parameter.grad() : torch::zeros_like(parameter))
                       .reshape({-1})
                       .clone());
  }
  return torch::cat(flat);
}

double relative_difference(const torch::Tensor& a, const torch::Tensor& b) {
  return ((a - b).norm() / b.norm()).item<double>();
}

/// A loss that sees every feature of an image and its ponder cost.
torch::Tensor loss_of(const NetworkOutput& output, int64_t image, Size size) {
  const torch::Tensor features = own(output.features, image, size);
  const torch::Tensor weights = torch::sin(torch::arange(features.numel(), torch::kFloat64));
  return (features.reshape({-1}) * weights).sum();
}

void expect_numbers_of_single_images(const ModelSpec& spec, const HardHalting* hard = nullptr) {
  Network network = test::random_network(spec, 3);
  network->to(torch::kFloat64);
  network->eval();
  const torch::Tensor images = padded_images(4);
  const int last = spec.blocks() - 1;
  ForwardOptions options;
  options.hard = hard;
  torch::Tensor sum = torch::zeros({}, torch::kFloat64);
  std::vector<NetworkOutput> alone;
  const double count = double(kSizes.size());
  network->zero_grad();
  for (size_t i = 0; i < kSizes.size(); ++i) {
    alone.push_back(network->forward(own(images, int64_t(i), kSizes[i]), options));
    sum = sum + loss_of(alone.back(), 0, spec.block_size(last, kSizes[i])) +
          0.1 * ponder_penalty(alone.back()) / count;
  }
  sum.backward();
  const torch::Tensor expected = gradients(*network);

  options.areas = ImageAreas(spec, kSizes, kPadded);
  network->zero_grad();
  const NetworkOutput together = network->forward(images, options);
  torch::Tensor loss = 0.1 * ponder_penalty(together);
  for (size_t i = 0; i < kSizes.size(); ++i) {
    loss = loss + loss_of(together, int64_t(i), spec.block_size(last, kSizes[i]));
    for (int block = 0; block <= last; ++block) {
      const Size size = spec.block_size(block, kSizes[i]);
      const BlockOutput &found = together.blocks[size_t(block)],
                        &expected_block = alone[i].blocks[size_t(block)];
      const torch::Tensor cost = found.ponder_cost.narrow(0, int64_t(i), 1);
      const torch::Tensor units = found.units.narrow(0, int64_t(i), 1);
      const auto cut = [&](const torch::Tensor& map) {
        return map.narrow(1, 0, size.height).narrow(2, 0, size.width);
      };
      EXPECT_TRUE(torch::equal(cut(units), expected_block.units)) << "block " << block;
      EXPECT_TRUE(torch::allclose(cut(cost), expected_block.ponder_cost, 1e-6, 1e-6));
      EXPECT_EQ(units.sum().item<double>(), cut(units).sum().item<double>()) << "padding has none";
      EXPECT_NEAR(cost.sum().item<double>(), cut(cost).sum().item<double>(), 1e-6);
    }
    EXPECT_LT(
        relative_difference(own(together.features, int64_t(i), spec.block_size(last, kSizes[i])),
                            alone[i].features),
        1e-9);
  }
  EXPECT_NEAR(loss.item<double>(), sum.item<double>(), 1e-6 * std::abs(sum.item<double>()) + 1e-7);
  loss.backward();
  EXPECT_LT(relative_difference(gradients(*network), expected), 1e-6);
}

TEST(PaddedBatch, GivesEveryKindOfUnitTheNumbersOfSingleImages) {
  for (const UnitKind unit :
       {UnitKind::kBottleneck, UnitKind::kBasic, UnitKind::kBottleneckV1, UnitKind::kBasicV1}) {
    for (const Halting halting : {Halting::kNone, Halting::kAct, Halting::kSact}) {
      SCOPED_TRACE(fmt::format("{} {}", name_of(unit), name_of(halting)));
      ModelSpec spec = test::tiny_spec(halting, {2, 3, 2});
      spec.unit = unit;
      spec.classes = 0;
      expect_numbers_of_single_images(spec);
    }
  }
}

TEST(PaddedBatch, GivesEveryStemTheNumbersOfSingleImages) {
  for (const StemPool pool :
       {StemPool::kSymmetric, StemPool::kSame, StemPool::kCeil, StemPool::kValid}) {
    SCOPED_TRACE(name_of(pool));
    ModelSpec spec = test::tiny_spec(Halting::kSact, {2, 2});
    spec.unit = UnitKind::kBottleneckV1;
    spec.stride_on = StrideOn::k1x1;
    spec.stem_pool = pool;
    spec.classes = 0;
    expect_numbers_of_single_images(spec);
    spec.unit = UnitKind::kBottleneck;  // what is pooled may be below 0
    spec.stride_on = StrideOn::k3x3;
    expect_numbers_of_single_images(spec);
  }
  ModelSpec small = test::tiny_spec(Halting::kSact, {2, 2});
  small.stem = Stem::kSmall;
  small.classes = 0;
  expect_numbers_of_single_images(small);
}

TEST(PaddedBatch, GivesEveryHaltingRuleTheNumbersOfSingleImages) {
  ModelSpec spec = test::tiny_spec(Halting::kSact, {3, 4});
  spec.classes = 0;
  spec.tile = 3;
  expect_numbers_of_single_images(spec);
  spec.halting_norm = false;
  expect_numbers_of_single_images(spec);
  spec.score_floor = 0.1;
  expect_numbers_of_single_images(spec);
  const HardHalting hard{HardHalting::threshold_of(spec), 2};
  expect_numbers_of_single_images(spec, &hard);
}

TEST(PaddedBatch, TheLossOfADetectorIsTheMeanOfItsImages) {
  for (const Halting halting : {Halting::kNone, Halting::kAct, Halting::kSact}) {
    for (const UnitKind unit : {UnitKind::kBottleneck, UnitKind::kBottleneckV1}) {
      SCOPED_TRACE(fmt::format("{} {}", name_of(unit), name_of(halting)));
      ModelSpec spec = test::tiny_spec(halting, {2, 3, 2});
      spec.unit = unit;
      spec.classes = 3;
      spec.detection.emplace();
      spec.detection->anchor_sizes = {16, 32};
      spec.detection->proposal_channels = 8;
      spec.detection->proposals = 30;
      spec.detection->crop = 6;
      spec.detection->pool = 2;
      Detector detector = make_detector(spec, test::random_weights(spec, 10));
      detector->to(torch::kFloat64);
      DetectorParts parts(detector);
      const torch::Tensor images = padded_images(5);
      // One has no object, one a crowd, and one fewer boxes than are drawn.
      const std::vector<std::vector<detect::Object>> objects = {
          {{{5, 6, 30, 40}, 2, false}, {{40, 20, 60, 36}, 0, false}},
          {{{60, 10, 95, 70}, 1, false}, {{0, 40, 20, 64}, 1, true}},
          {},
          {{{3, 60, 45, 94}, 0, false}}};
      const DetectionLossOptions options{torch::tensor(0.01), torch::tensor(0.02), 32, 24};
      std::vector<ImageTruth> truth;
      for (size_t i = 0; i < kSizes.size(); ++i) {
        truth.push_back({kSizes[i], objects[i], Random(20 + i)});
      }
      detector->zero_grad();
      torch::Tensor expected_parts = torch::zeros({6}, torch::kFloat64);
      for (size_t i = 0; i < truth.size(); ++i) {
        const DetectionLoss alone =
            detection_loss(parts, own(images, int64_t(i), kSizes[i]), {&truth[i], 1}, options);
        (alone.total / double(truth.size())).backward();
        expected_parts += alone.parts / double(truth.size());
      }
      const torch::Tensor expected = gradients(*detector);
      for (const int threads : {1, 3}) {
        detector->zero_grad();
        DetectionLossOptions other = options;
        other.threads = threads;
        const DetectionLoss together = detection_loss(parts, images, truth, other);
        together.total.backward();
        EXPECT_TRUE(torch::allclose(together.parts, expected_parts, 1e-6, 1e-6))
            << together.parts << expected_parts;
        EXPECT_LT(relative_difference(gradients(*detector), expected), 1e-6);
      }
    }
  }
}

TEST(PaddedSize, IsThatOfThePicturesOrTakesAllOfThem) {
  EXPECT_EQ(padded_size(std::vector<Size>{{320, 427}, {320, 427}}), (Size{320, 427}));
  EXPECT_EQ(padded_size(std::vector<Size>{{320, 427}, {320, 428}}), (Size{320, 448}));
  EXPECT_EQ(padded_size(std::vector<Size>{{320, 449}, {321, 400}}), (Size{384, 512}));
}

TEST(SimilarTogether, BatchesNeedLittlePadding) {
  Random random(1);
  std::vector<Size> shapes;
  for (int i = 0; i < 400; ++i) {
    const int longer = int(random.uniform(320, 640));
    shapes.push_back(random.coin() ? Size{320, longer} : Size{longer, 320});
  }
  std::vector<int64_t> order(shapes.size() - 4);  // not all, and not a multiple of the batch
  std::iota(order.begin(), order.end(), 2);
  const auto found = similar_together(order, shapes, 16, 7);
  EXPECT_EQ(std::set(found.begin(), found.end()), std::set(order.begin(), order.end()));
  EXPECT_EQ(found, similar_together(order, shapes, 16, 7));
  EXPECT_NE(found, similar_together(order, shapes, 16, 8));
  double own = 0, padded = 0;
  std::vector<int> widths;
  for (size_t batch = 0; batch < found.size() / 16; ++batch) {
    std::vector<Size> sizes;
    for (size_t i = 0; i < 16; ++i) sizes.push_back(shapes[size_t(found[16 * batch + i])]);
    for (const Size size : sizes) own += double(size.positions());
    padded += 16 * double(padded_size(sizes).positions());
    widths.push_back(padded_size(sizes).width);
  }
  EXPECT_LT(padded / own, 1.15);
  EXPECT_FALSE(std::is_sorted(widths.begin(), widths.end())) << "batches are shuffled";
}

TEST(SimilarTogether, SamplesOfOneShapeStayInTheirOrder) {
  const std::vector<Size> shapes(6, Size{64, 64});
  const std::vector<int64_t> order = {4, 0, 5, 2, 1, 3};
  const auto found = similar_together(order, shapes, 6, 1);
  EXPECT_EQ(found, order);
}

TEST(StoredPictures, AreTheSameKeptOrNot) {
  const auto dataset =
      detect::synthetic_detection_dataset("synthetic:size=64,count=4,val=1", "train");
  const StoredPictures kept(*dataset, 50, true), read(*dataset, 50, false);
  EXPECT_EQ(StoredPictures::bytes(*dataset, 50), 4u * 3 * 50 * 50);
  for (int64_t index = 0; index < 4; ++index) {
    const auto first = kept.get(index);
    EXPECT_EQ(first->rgb, read.get(index)->rgb);
    EXPECT_EQ(first, kept.get(index)) << "not decoded again";
  }
}

TEST(DetectionBatchLoader, PutsPicturesIntoTheFirstRowsAndColumns) {
  const std::vector<Size> sizes = {{40, 64}, {40, 50}, {64, 40}, {64, 40}};
  const auto read = [&](int64_t position, int64_t index) {
    const Size size = sizes[size_t(index)];
    DetectionSample sample;
    sample.index = index;
    sample.pixels =
        torch::full({size.height, size.width, 3}, 1 + position, torch::kUInt8).permute({2, 0, 1});
    sample.objects = {{{0, 0, float(size.width), float(size.height)}, int32_t(index), false}};
    return sample;
  };
  data::CorruptSamples corrupt(0);
  DetectionBatchLoader loader(4, {1, 0, 3, 2}, read, {2, 2, false}, corrupt);
  const DetectionBatch first = loader.next(), second = loader.next();
  EXPECT_EQ(first.pixels.sizes(), torch::IntArrayRef({2, 64, 64, 3}));
  EXPECT_EQ(second.pixels.sizes(), torch::IntArrayRef({2, 64, 40, 3}));
  EXPECT_EQ(first.sizes, (std::vector<Size>{{40, 50}, {40, 64}}));
  EXPECT_EQ(first.samples[1].index, 0);
  EXPECT_EQ(first.samples[1].objects[0].label, 0);
  EXPECT_EQ(first.pixels[0].sum().item<int64_t>(), 40 * 50 * 3);
  EXPECT_TRUE(first.pixels[0].narrow(0, 0, 40).narrow(1, 0, 50).eq(1).all().item<bool>());
  EXPECT_TRUE(second.pixels[1].eq(4).all().item<bool>());
}

TEST(TrainingSample, IsSeenAtAnySide) {
  const auto dataset =
      detect::synthetic_detection_dataset("synthetic:size=64,count=1,val=1", "train");
  const StoredPictures pictures(*dataset, 64, false);
  const DetectionSample half = training_sample(*dataset, 0, *pictures.get(0), {32, false});
  EXPECT_EQ(half.size(), (Size{32, 32}));
  const auto given = dataset->objects(0);
  EXPECT_NEAR(half.objects[0].box.x1, given[0].box.x1 / 2, 1e-4);
}

}  // namespace
}  // namespace sact::train
