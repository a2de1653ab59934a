// The engine against LibTorch on random networks of every kind.
#include <gtest/gtest.h>

#include "engine/cpu/session.h"
#include "support/temporary.h"
#include "train/random_network.h"
#include "train/torch/network_weights.h"
#include "train/torch/torch_runner.h"

namespace sact::engine {
namespace {

struct Kind {
  Halting halting;
  Stem stem;
  UnitKind unit;
  std::vector<int> units;
  int width, tile;
  bool norm;
  int images, height, width_pixels;
  StrideOn stride_on = StrideOn::k3x3;
  StemPool pool = StemPool::kSymmetric;
};

class Parity : public ::testing::TestWithParam<Kind> {};

/// A score this close to the threshold may fall on either side; then N differs at that position.
constexpr double kToleratedShare = 0.002;

TEST_P(Parity, EngineComputesWhatLibTorchComputes) {
  const Kind& kind = GetParam();
  for (uint64_t seed : {1, 2}) {
    SCOPED_TRACE(seed);
    ModelSpec spec = test::tiny_spec(kind.halting, kind.units);
    spec.stem = kind.stem;
    spec.unit = kind.unit;
    spec.width = kind.width;
    spec.tile = kind.tile;
    spec.halting_norm = kind.norm;
    spec.score_floor = seed == 2 ? 0.2 : 0;
    spec.stride_on = kind.stride_on;
    spec.stem_pool = kind.pool;
    train::Network network = test::random_network(spec, seed);
    const test::TemporaryDirectory directory;
    const auto path = directory / "model.safetensors";
    write_model(path, spec, train::network_weights(network));
    const ModelFile file(path);
    const torch::Tensor images =
        test::random_images(kind.images, kind.height, kind.width_pixels, seed + 10);
    const std::vector<float> planes(images.data_ptr<float>(),
                                    images.data_ptr<float>() + images.numel());
    const Size size{kind.height, kind.width_pixels};
    const auto expected = train::load_with_torch(image_network_of(file), {})
                              ->session(1)
                              ->run(planes, kind.images, size);
    for (const kernels::Table* table : kernels::available_tables()) {
      SCOPED_TRACE(table->name);
      CpuSession session(std::make_shared<Plan>(file, *table), 2);
      for (int repeat = 0; repeat < 4; ++repeat) {  // later runs find used memory
        const auto found = session.run(planes, kind.images, size);
        ASSERT_EQ(found.size(), expected.size());
        int64_t positions = 0, all_different = 0;
        for (size_t i = 0; i < found.size(); ++i) {
          int64_t different = 0;
          for (size_t b = 0; b < found[i].blocks.size(); ++b) {
            const auto &units = found[i].blocks[b].units, &right = expected[i].blocks[b].units;
            ASSERT_EQ(units.size(), right.size());
            for (size_t p = 0; p < units.size(); ++p) {
              ++positions;
              different += units[p] != right[p];
              if (units[p] == right[p]) {
                const double cost = expected[i].blocks[b].ponder_cost.values[p];
                ASSERT_NEAR(found[i].blocks[b].ponder_cost.values[p], cost, 1e-4 * cost);
              }
            }
          }
          all_different += different;
          if (different > 0) continue;  // a position that halts elsewhere changes what follows
          EXPECT_EQ(found[i].flops, expected[i].flops);
          double error = 0, norm = 0;
          for (size_t c = 0; c < found[i].logits.size(); ++c) {
            error += std::pow(found[i].logits[c] - expected[i].logits[c], 2);
            norm += std::pow(expected[i].logits[c], 2);
          }
          EXPECT_LT(std::sqrt(error / norm), 1e-4);
        }
        EXPECT_LE(double(all_different), kToleratedShare * double(positions));
        RecordProperty("positions that halt elsewhere", std::to_string(all_different));
      }
    }
  }
}

constexpr auto kBottleneck = UnitKind::kBottleneck;
constexpr auto kBasic = UnitKind::kBasic;
constexpr auto kBottleneckV1 = UnitKind::kBottleneckV1;
constexpr auto kBasicV1 = UnitKind::kBasicV1;

INSTANTIATE_TEST_SUITE_P(
    Kinds, Parity,
    ::testing::Values(
        Kind{Halting::kNone, Stem::kImageNet, kBottleneck, {2, 3, 2, 1}, 8, 1, true, 2, 64, 64},
        Kind{Halting::kNone, Stem::kSmall, kBasic, {2, 2, 2}, 5, 1, true, 3, 33, 47},
        Kind{Halting::kAct, Stem::kImageNet, kBottleneck, {3, 4, 2}, 8, 1, true, 4, 65, 47},
        Kind{Halting::kAct, Stem::kSmall, kBasic, {4, 3}, 6, 1, false, 2, 32, 32},
        Kind{Halting::kSact, Stem::kImageNet, kBottleneck, {3, 4, 5, 3}, 8, 1, true, 1, 97, 129},
        Kind{Halting::kSact, Stem::kImageNet, kBottleneck, {3, 4, 1}, 4, 1, false, 5, 64, 48},
        Kind{Halting::kSact, Stem::kImageNet, kBottleneck, {3, 4, 2}, 12, 2, true, 3, 70, 90},
        Kind{Halting::kSact, Stem::kSmall, kBasic, {3, 3, 3}, 8, 1, true, 2, 33, 47},
        Kind{Halting::kSact, Stem::kImageNet, kBottleneck, {1, 2, 3}, 64, 1, true, 3, 80, 96},
        Kind{Halting::kAct, Stem::kImageNet, kBasic, {2, 2}, 16, 1, true, 1, 96, 96},
        Kind{Halting::kSact, Stem::kImageNet, kBasic, {2, 2, 2, 2}, 8, 1, true, 1, 96, 96},
        Kind{Halting::kSact, Stem::kSmall, kBottleneck, {3, 4}, 8, 4, true, 2, 40, 36},
        Kind{Halting::kNone, Stem::kImageNet, kBottleneckV1, {2, 3, 2, 1}, 8, 1, true, 2, 64, 64},
        Kind{Halting::kNone,
             Stem::kImageNet,
             kBasicV1,
             {2, 2, 2},
             5,
             1,
             true,
             3,
             65,
             47,
             StrideOn::k3x3,
             StemPool::kSame},
        Kind{Halting::kSact,
             Stem::kImageNet,
             kBottleneckV1,
             {3, 4, 5, 3},
             8,
             1,
             true,
             1,
             97,
             129,
             StrideOn::k3x3,
             StemPool::kSame},
        Kind{Halting::kSact,
             Stem::kImageNet,
             kBottleneckV1,
             {3, 4, 2},
             12,
             2,
             true,
             3,
             70,
             90,
             StrideOn::k1x1,
             StemPool::kCeil},
        Kind{Halting::kAct,
             Stem::kImageNet,
             kBottleneckV1,
             {3, 4, 2},
             8,
             1,
             true,
             4,
             65,
             47,
             StrideOn::k1x1,
             StemPool::kValid},
        Kind{Halting::kSact, Stem::kSmall, kBasicV1, {3, 3, 3}, 8, 1, false, 2, 33, 47}));

}  // namespace
}  // namespace sact::engine
