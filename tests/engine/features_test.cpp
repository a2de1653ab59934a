// Networks without a head, which give features, and without a stem, which take them: the two that a
// detector consists of, and the layers between them that propose boxes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/cpu/proposal_layers.h"
#include "engine/detectors.h"
#include "engine/slow_network.h"
#include "kernels/tested_tables.h"
#include "model/detection.h"

namespace sact::engine {
namespace {

using sact::test::random_planes;
using sact::test::tiny_spec;
using test::Features;
using test::plan_of;
using test::random_weight_map;
using test::SlowNetwork;
using test::values_of;
using test::WeightMap;

constexpr kernels::DataType kTypes[] = {kernels::DataType::kFloat32, kernels::DataType::kBFloat16};

struct Kind {
  Halting halting;
  Stem stem;
  UnitKind unit;
  std::vector<int> units;
  int width;
  StrideOn stride_on = StrideOn::k3x3;
  StemPool pool = StemPool::kSymmetric;
  double score_floor = 0;
};

std::string name_of_kind(const Kind& kind) {
  return fmt::format("{}_{}_{}_{}_{}{}", name_of(kind.halting), name_of(kind.stem),
                     name_of(kind.unit), name_of(kind.stride_on), name_of(kind.pool),
                     kind.score_floor > 0 ? "_floor" : "");
}

const Kind kKinds[] = {
    {Halting::kNone, Stem::kImageNet, UnitKind::kBottleneck, {2, 3, 2}, 8},
    {Halting::kAct, Stem::kImageNet, UnitKind::kBottleneck, {3, 2, 3}, 4},
    {Halting::kSact, Stem::kImageNet, UnitKind::kBottleneck, {1, 3, 4}, 8},
    {Halting::kSact, Stem::kSmall, UnitKind::kBasic, {3, 2, 3}, 5},
    {Halting::kAct, Stem::kImageNet, UnitKind::kBottleneck, {2, 3, 2}, 8, StrideOn::k1x1},
    {Halting::kNone, Stem::kImageNet, UnitKind::kBottleneckV1, {2, 3, 2}, 8},
    {Halting::kSact,
     Stem::kImageNet,
     UnitKind::kBottleneckV1,
     {1, 3, 4},
     8,
     StrideOn::k3x3,
     StemPool::kSame},
    {Halting::kAct,
     Stem::kImageNet,
     UnitKind::kBottleneckV1,
     {3, 2, 3},
     5,
     StrideOn::k1x1,
     StemPool::kCeil},
    {Halting::kSact,
     Stem::kImageNet,
     UnitKind::kBottleneckV1,
     {2, 3, 3},
     4,
     StrideOn::k1x1,
     StemPool::kValid},
    {Halting::kSact, Stem::kSmall, UnitKind::kBasicV1, {3, 2, 3}, 5},
    {Halting::kNone,
     Stem::kImageNet,
     UnitKind::kBasicV1,
     {2, 2, 2},
     8,
     StrideOn::k3x3,
     StemPool::kSame},
    {Halting::kSact,
     Stem::kImageNet,
     UnitKind::kBottleneck,
     {4, 3, 5},
     8,
     StrideOn::k3x3,
     StemPool::kSymmetric,
     0.3},
    {Halting::kAct,
     Stem::kSmall,
     UnitKind::kBasicV1,
     {4, 2, 5},
     5,
     StrideOn::k3x3,
     StemPool::kSymmetric,
     0.3},
    {Halting::kSact,
     Stem::kSmall,
     UnitKind::kBottleneckV1,
     {4, 4, 5},
     5,
     StrideOn::k3x3,
     StemPool::kSymmetric,
     0.3},
};

ModelSpec detector_of(const Kind& kind) {
  ModelSpec spec = tiny_spec(kind.halting, kind.units);
  spec.stem = kind.stem;
  spec.unit = kind.unit;
  spec.width = kind.width;
  spec.stride_on = kind.stride_on;
  spec.stem_pool = kind.pool;
  spec.score_floor = kind.score_floor;
  spec.detection.emplace();
  spec.detection->proposal_channels = 12;
  return spec;
}

/// The weights of the box network, by its own names.
WeightMap box_weights(const ModelSpec& detector, const WeightMap& weights) {
  WeightMap own;
  for (const WeightInfo& info : weight_list(box_spec(detector))) {
    own[info.name] = weights.at(box_weight_name(detector, info.name));
  }
  return own;
}

std::vector<float> random_rows(int count, Size size, int channels, uint64_t seed) {
  Random random(seed);
  std::vector<float> rows(size_t(count * size.positions() * channels));
  for (float& value : rows) value = float(random.normal());
  return rows;
}

Features features_of(const std::vector<float>& rows, int image, Size size, int channels) {
  Features features(size, channels);
  std::copy_n(rows.begin() + long(image * int64_t(features.values.size())), features.values.size(),
              features.values.begin());
  return features;
}

Features image_of(const std::vector<float>& planes, int image, Size size) {
  Features features(size, 3);
  const int64_t plane = size.positions();
  for (int64_t i = 0; i < 3 * plane; ++i) {
    features.values[size_t(i % plane * 3 + i / plane)] =
        double(planes[size_t(image * 3 * plane + i)]);
  }
  return features;
}

template <typename A, typename B>
double relative_error(const std::vector<A>& found, const std::vector<B>& right) {
  EXPECT_EQ(found.size(), right.size());
  double error = 0, norm = 0;
  for (size_t i = 0; i < right.size(); ++i) {
    error += std::pow(double(found[i]) - double(right[i]), 2);
    norm += std::pow(double(right[i]), 2);
  }
  EXPECT_GT(norm, 0);
  return std::sqrt(error / norm);
}

/// Positions that got another number of units. A score this close to the threshold may fall on
/// either side; there may be very few.
int64_t differing(const std::vector<BlockResult>& found, const std::vector<BlockResult>& right) {
  EXPECT_EQ(found.size(), right.size());
  int64_t positions = 0, different = 0;
  for (size_t b = 0; b < right.size(); ++b) {
    EXPECT_EQ(found[b].units.size(), right[b].units.size());
    for (size_t p = 0; p < right[b].units.size(); ++p) {
      ++positions;
      if (found[b].units[p] != right[b].units[p]) {
        ++different;
      } else {
        EXPECT_NEAR(found[b].ponder_cost.values[p], right[b].ponder_cost.values[p], 2e-3);
      }
    }
  }
  EXPECT_LE(double(different), 0.002 * double(positions));
  return different;
}

class FeaturesOf : public ::testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, FeaturesOf, ::testing::ValuesIn(kKinds),
                         [](const auto& info) { return name_of_kind(info.param); });

TEST_P(FeaturesOf, AnExtractorGivesWhatTheBlocksOfAWholeNetworkCompute) {
  const ModelSpec detector = detector_of(GetParam());
  const ModelSpec extractor = extractor_spec(detector);
  const WeightMap weights = random_weight_map(detector, 1);
  const Size size{49, 70};
  const std::vector<float> planes = random_planes(2, size, 2);
  for (const kernels::Table* table : kernels::available_tables()) {
    SCOPED_TRACE(table->name);
    CpuSession session(plan_of(extractor, weights, kernels::DataType::kFloat32, *table), 2);
    for (int repeat = 0; repeat < 2; ++repeat) {
      const auto results = session.run(planes, 2, size);
      for (int i = 0; i < 2; ++i) {
        const ImageResult& found = results[size_t(i)];
        const auto right = SlowNetwork(extractor, weights).run(image_of(planes, i, size));
        EXPECT_TRUE(found.logits.empty());
        if (differing(found.blocks, right.blocks) > 0) continue;
        EXPECT_LT(relative_error(values_of(session.features(i)), right.features.values), 1e-5);
      }
    }
  }
}

TEST_P(FeaturesOf, ABoxNetworkGivesWhatTheSlowFormGives) {
  const ModelSpec detector = detector_of(GetParam());
  const ModelSpec boxes = box_spec(detector);
  const WeightMap weights = box_weights(detector, random_weight_map(detector, 3));
  const Size cells{7, 7};
  const int channels = boxes.stem_channels(), count = 5;
  const std::vector<float> rows = random_rows(count, cells, channels, 4);
  for (const kernels::Table* table : kernels::available_tables()) {
    SCOPED_TRACE(table->name);
    CpuSession session(plan_of(boxes, weights, kernels::DataType::kFloat32, *table), 2);
    const auto results = session.run(pixels_view(rows, count, cells, channels));
    ASSERT_EQ(results.size(), size_t(count));
    for (int i = 0; i < count; ++i) {
      const ImageResult& found = results[size_t(i)];
      const auto right = SlowNetwork(boxes, weights).run(features_of(rows, i, cells, channels));
      EXPECT_EQ(found.logits.size(), size_t(1 + 5 * detector.classes));
      if (differing(found.blocks, right.blocks) > 0) continue;
      EXPECT_LT(relative_error(found.logits, right.logits), 1e-5);
      EXPECT_EQ(found.flops, result_flops(boxes, cells, found.blocks));
    }
  }
}

TEST_P(FeaturesOf, BFloat16IsNearTheSlowForm) {
  ModelSpec detector = detector_of(GetParam());
  detector.halting = Halting::kNone;  // scores are rounded otherwise, and positions halt elsewhere
  detector.width = 16;
  const WeightMap weights = random_weight_map(detector, 5);
  const ModelSpec extractor = extractor_spec(detector), boxes = box_spec(detector);
  const WeightMap own = box_weights(detector, weights);
  const Size size{40, 48}, cells{3, 5};
  const std::vector<float> planes = random_planes(1, size, 6);
  const std::vector<float> rows = random_rows(1, cells, boxes.stem_channels(), 7);
  const auto features = SlowNetwork(extractor, weights).run(image_of(planes, 0, size)).features;
  const auto logits =
      SlowNetwork(boxes, own).run(features_of(rows, 0, cells, boxes.stem_channels())).logits;
  for (const kernels::Table* table : kernels::tested_tables()) {
    SCOPED_TRACE(table->name);
    const auto type = kernels::DataType::kBFloat16;
    CpuSession session(plan_of(extractor, weights, type, *table), 2);
    session.run(planes, 1, size);
    const auto of_box = CpuSession(plan_of(boxes, own, type, *table), 2)
                            .run(pixels_view(rows, 1, cells, boxes.stem_channels()));
    for (const double error : {relative_error(values_of(session.features()), features.values),
                               relative_error(of_box[0].logits, logits)}) {
      EXPECT_LT(error, 3e-2);
      EXPECT_GT(error, 1e-6) << "bfloat16 was not used";
    }
  }
}

TEST_P(FeaturesOf, ManyBoxesInOneBatchGetWhatEachGetsAlone) {
  ModelSpec detector = detector_of(GetParam());
  detector.width *= 4;  // so that 300 boxes make several groups
  const ModelSpec boxes = box_spec(detector);
  const WeightMap weights = box_weights(detector, random_weight_map(detector, 8));
  const Size cells{7, 7};
  const int channels = boxes.stem_channels(), count = 300;
  const std::vector<float> rows = random_rows(count, cells, channels, 9);
  const size_t values = rows.size() / count;
  for (const kernels::DataType type : kTypes) {
    SCOPED_TRACE(kernels::name_of(type));
    // Layers may run over tiles together and as direct products alone: what that rounds.
    const bool half = type == kernels::DataType::kBFloat16;
    const double rounding = half ? 2e-3 : 1e-4, at_thresholds = half ? 0.02 : 0.005;
    CpuSession session(plan_of(boxes, weights, type), 2);
    const auto together = session.run(pixels_view(rows, count, cells, channels));
    ASSERT_EQ(together.size(), size_t(count));
    int64_t positions = 0, different = 0;
    for (size_t i = 0; i < size_t(count); i += 37) {
      SCOPED_TRACE(i);
      const std::vector<float> own(rows.begin() + long(i * values),
                                   rows.begin() + long((i + 1) * values));
      const ImageResult alone = session.run(pixels_view(own, 1, cells, channels)).front();
      const auto &units = together[i].blocks[0].units, &right = alone.blocks[0].units;
      int64_t here = 0;
      for (size_t p = 0; p < right.size(); ++p) here += units[p] != right[p];
      EXPECT_LT(relative_error(together[i].logits, alone.logits), here > 0 ? 2e-2 : rounding);
      positions += int64_t(right.size());
      different += here;
    }
    EXPECT_LE(double(different), at_thresholds * double(positions));
  }
}

TEST(Features, PermutingBoxesPermutesWhatIsSaidOfThem) {
  const ModelSpec detector = detector_of(kKinds[2]);
  const auto plan =
      plan_of(box_spec(detector), box_weights(detector, random_weight_map(detector, 17)));
  const Size cells{7, 7};
  const int count = 9;
  const std::vector<float> rows = random_rows(count, cells, plan->spec.stem_channels(), 18);
  const long values = long(rows.size()) / count;
  std::vector<float> backwards;
  for (int i = count - 1; i >= 0; --i) {
    backwards.insert(backwards.end(), rows.begin() + i * values, rows.begin() + (i + 1) * values);
  }
  CpuSession session(plan, 2);
  const int channels = plan->spec.stem_channels();
  const auto results = session.run(pixels_view(rows, count, cells, channels));
  const auto reversed = session.run(pixels_view(backwards, count, cells, channels));
  for (size_t i = 0; i < size_t(count); ++i) {
    const ImageResult& other = reversed[size_t(count) - 1 - i];
    if (differing(other.blocks, results[i].blocks) > 0) continue;
    EXPECT_LT(relative_error(other.logits, results[i].logits), 1e-5);
    EXPECT_EQ(other.flops, results[i].flops);
  }
}

TEST(Features, SessionsThatShareThreadsGiveWhatTheyGiveAlone) {
  const ModelSpec detector = detector_of(kKinds[2]);
  const WeightMap weights = random_weight_map(detector, 10);
  const auto plan = plan_of(extractor_spec(detector), weights);
  const auto boxes = plan_of(box_spec(detector), box_weights(detector, weights));
  const Size size{64, 48}, cells{7, 7};
  const std::vector<float> planes = random_planes(1, size, 11);
  const std::vector<float> rows = random_rows(4, cells, boxes->spec.stem_channels(), 12);
  const auto team = std::make_shared<ThreadTeam>(2);
  CpuSession first(plan, team), second(boxes, team);
  const InputView crops = pixels_view(rows, 4, cells, boxes->spec.stem_channels());
  CpuSession alone(plan, 2);
  alone.run(planes, 1, size);
  const auto features = values_of(alone.features());
  const auto logits = CpuSession(boxes, 2).run(crops)[3].logits;
  for (int repeat = 0; repeat < 3; ++repeat) {
    first.run(planes, 1, size);
    EXPECT_EQ(second.run(crops)[3].logits, logits);
    EXPECT_EQ(values_of(first.features()), features) << "another session's run changed them";
  }
}

TEST(Features, TheProfileHasTheLayersThatThereAre) {
  const ModelSpec detector = detector_of(kKinds[0]);
  const WeightMap weights = random_weight_map(detector, 13);
  CpuSession session(plan_of(box_spec(detector), box_weights(detector, weights)), 1);
  session.set_profiling(true);
  const Size cells{7, 7};
  const int channels = session.plan().spec.stem_channels();
  session.run(pixels_view(random_rows(3, cells, channels, 14), 3, cells, channels));
  const auto layers = described_layers(session.plan(), session.profile());
  EXPECT_EQ(layers.front().name, "stages.0.blocks.0.downsample.conv");
  EXPECT_EQ(layers.front().profile.rows, 3 * 49);
  EXPECT_EQ(layers.back().name, "head.fc");
  EXPECT_EQ(layers.back().profile.rows, 3);
}

TEST(Proposals, LayersGiveWhatTheSlowFormGives) {
  ModelSpec detector = detector_of(kKinds[2]);
  detector.detection->proposal_channels = 21;
  const WeightMap weights = random_weight_map(detector, 15);
  const int channels = detector.block_channels(detector.blocks() - 2);
  for (const kernels::Table* table : kernels::available_tables()) {
    for (const kernels::DataType type : kTypes) {
      SCOPED_TRACE(fmt::format("{} {}", table->name, kernels::name_of(type)));
      for (const auto multiplications : {Multiplications::kFewest, Multiplications::kDirect}) {
        const auto plan = std::make_shared<ProposalPlan>(
            detector, [&](const WeightInfo& info) { return weights.at(info.name); }, *table, type,
            multiplications);
        bool over_tiles = false;
        for (const int threads : {1, 3}) {
          ProposalSession session(plan, std::make_shared<ThreadTeam>(threads));
          session.set_profiling(true);
          // A session is used for grids of many sizes, one after the other.
          for (const Size grid : {Size{9, 13}, Size{1, 1}, Size{1, 7}, Size{20, 11}, Size{9, 13}}) {
            const std::vector<float> rows = random_rows(1, grid, channels, 16);
            const auto [scores, codes] =
                test::slow_anchor_outputs(features_of(rows, 0, grid, channels), detector, weights);
            const AnchorOutputs found = session.run({rows.data(), grid, channels});
            const double most = type == kernels::DataType::kFloat32 ? 1e-5 : 2e-2;
            EXPECT_LT(relative_error(found.scores, scores), most);
            EXPECT_LT(relative_error(found.codes, codes), most);
            const kernels::TapOrder order =
                session.profile()[size_t(plan->hidden.index)].taps.order;
            over_tiles |=
                order == kernels::TapOrder::kTilesOfTwo || order == kernels::TapOrder::kTilesOfFour;
          }
        }
        EXPECT_EQ(over_tiles, multiplications == Multiplications::kFewest &&
                                  type == kernels::DataType::kFloat32);
      }
    }
  }
}

}  // namespace
}  // namespace sact::engine
