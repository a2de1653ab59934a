// The CUDA engine against the CPU's: on a GPU, or with its kernels emulated on the CPU.
#include "engine/cuda/session.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/cuda/testing.h"
#include "engine/plans.h"

namespace sact::engine {
namespace {

using sact::test::random_planes;
using sact::test::tiny_spec;

struct Kind {
  std::string name;
  UnitKind unit;
  Halting halting;
  Stem stem = Stem::kImageNet;
  std::vector<int> units = {3, 4};
  int width = 4, tile = 1;
  double floor = 0;
  HaltingControl control = {};
  StrideOn stride_on = StrideOn::k3x3;
  StemPool pool = StemPool::kSymmetric;
  int images = 2;
  Size size = {32, 45};
};

#ifdef SACT_EMULATED  // takes its time
constexpr uint64_t kSeeds = 1;
Size size_of(const Kind& kind) {
  return kind.size;
}
#else
constexpr uint64_t kSeeds = 3;
Size size_of(const Kind& kind) {
  return {kind.size.height * 3, kind.size.width * 3};
}
#endif

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.name;
}

ModelSpec spec_of(const Kind& kind) {
  ModelSpec spec = tiny_spec(kind.halting, kind.units);
  spec.stem = kind.stem;
  spec.unit = kind.unit;
  spec.width = kind.width;
  spec.tile = kind.tile;
  spec.score_floor = kind.floor;
  spec.stride_on = kind.stride_on;
  spec.stem_pool = kind.pool;
  return spec;
}

std::shared_ptr<const CudaPlan> cuda_plan(const ModelSpec& spec, const test::WeightMap& weights,
                                          cuda::Element type) {
  return std::make_shared<CudaPlan>(
      spec, [&](const WeightInfo& info) { return weights.at(info.name); }, type, open_device());
}

double relative_error(const std::vector<float>& found, const std::vector<float>& right) {
  double error = 0, norm = 1e-30;
  for (size_t i = 0; i < right.size(); ++i) {
    error += std::pow(double(found[i]) - double(right[i]), 2);
    norm += std::pow(double(right[i]), 2);
  }
  return std::sqrt(error / norm);
}

/// How many positions were given another number of units.
int64_t differing_units(const ImageResult& found, const ImageResult& right) {
  int64_t count = 0;
  for (size_t b = 0; b < right.blocks.size(); ++b) {
    for (size_t i = 0; i < right.blocks[b].units.size(); ++i) {
      count += found.blocks[b].units[i] != right.blocks[b].units[i];
    }
  }
  return count;
}

int64_t positions_of(const ImageResult& result) {
  int64_t count = 0;
  for (const BlockResult& block : result.blocks) count += int64_t(block.units.size());
  return count;
}

class CudaParity : public ::testing::TestWithParam<Kind> {};

TEST_P(CudaParity, AGpuComputesWhatTheCpuComputes) {
  SACT_NEEDS_GPU();
  const Kind& kind = GetParam();
  const ModelSpec spec = spec_of(kind);
  const Size size = size_of(kind);
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const test::WeightMap weights = test::random_weight_map(spec, seed);
    const std::vector<float> planes = random_planes(kind.images, size, seed + 10);
    HaltingControl control = kind.control;
    if (control.hard_budget > 0) {
      control.hard_budget = 0.5 * (1 + HardBudget::smallest(spec, size));
    }
    CpuSession cpu(test::plan_of(spec, weights), 2, control);
    CudaSession gpu(cuda_plan(spec, weights, cuda::Element::kFloat32), control);
    const auto right = cpu.run(planes, kind.images, size);
    const auto found = gpu.run(planes, kind.images, size);
    ASSERT_EQ(found.size(), right.size());
    for (size_t i = 0; i < right.size(); ++i) {
      // A score this close to the threshold may fall on either side.
      const int64_t differing = differing_units(found[i], right[i]);
      EXPECT_LE(differing, positions_of(right[i]) / 500);
      if (differing > 0) continue;
      EXPECT_LT(relative_error(found[i].logits, right[i].logits), 1e-4);
      EXPECT_EQ(found[i].flops, right[i].flops);
      for (size_t b = 0; b < right[i].blocks.size(); ++b) {
        EXPECT_LT(relative_error(found[i].blocks[b].ponder_cost.values,
                                 right[i].blocks[b].ponder_cost.values),
                  1e-4);
      }
    }
    // What was recorded gives the same bits again.
    const auto again = gpu.run(planes, kind.images, size);
    for (size_t i = 0; i < right.size(); ++i) EXPECT_EQ(again[i].logits, found[i].logits);
  }
}

/// On tensor cores, where there are some: widths of whole tiles.
class CudaBf16 : public ::testing::TestWithParam<Kind> {};

TEST_P(CudaBf16, ABfloat16NetworkSaysAboutTheSame) {
  SACT_NEEDS_GPU();
  const Kind& kind = GetParam();
  const ModelSpec spec = spec_of(kind);
  const Size size = size_of(kind);
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const test::WeightMap weights = test::random_weight_map(spec, seed);
    const std::vector<float> planes = random_planes(kind.images, size, seed + 10);
    CpuSession cpu(test::plan_of(spec, weights), 2);
    CudaSession gpu(cuda_plan(spec, weights, cuda::Element::kBFloat16));
    const auto right = cpu.run(planes, kind.images, size);
    const auto found = gpu.run(planes, kind.images, size);
    for (size_t i = 0; i < right.size(); ++i) {
      EXPECT_LE(differing_units(found[i], right[i]), positions_of(right[i]) / 12 + 2);
      EXPECT_LT(relative_error(found[i].logits, right[i].logits), 0.06);
    }
    const auto again = gpu.run(planes, kind.images, size);
    for (size_t i = 0; i < right.size(); ++i) EXPECT_EQ(again[i].logits, found[i].logits);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, CudaBf16,
    ::testing::Values(
        Kind{"plain", UnitKind::kBottleneck, Halting::kNone, Stem::kImageNet, {2, 2}, 64},
        Kind{"plain_v1", UnitKind::kBottleneckV1, Halting::kNone, Stem::kImageNet, {2, 2}, 64},
        Kind{"sact", UnitKind::kBottleneck, Halting::kSact, Stem::kImageNet, {4, 2}, 64},
        Kind{"sact_v1", UnitKind::kBottleneckV1, Halting::kSact, Stem::kImageNet, {3, 2}, 64},
        Kind{"sact_basic", UnitKind::kBasic, Halting::kSact, Stem::kImageNet, {3, 2}, 64},
        Kind{"act", UnitKind::kBottleneck, Halting::kAct, Stem::kImageNet, {3, 2}, 64},
        Kind{"floor", UnitKind::kBottleneck, Halting::kSact, Stem::kImageNet, {4, 2}, 64, 1, 0.3},
        Kind{"small",
             UnitKind::kBasic,
             Halting::kSact,
             Stem::kSmall,
             {2, 2},
             16,
             1,
             0,
             {},
             StrideOn::k3x3,
             StemPool::kSymmetric,
             1,
             {32, 32}}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Kinds, CudaParity,
    ::testing::Values(
        Kind{"plain", UnitKind::kBottleneck, Halting::kNone},
        Kind{"plain_v1", UnitKind::kBottleneckV1, Halting::kNone},
        Kind{"basic", UnitKind::kBasic, Halting::kNone},
        Kind{"basic_v1", UnitKind::kBasicV1, Halting::kNone},
        Kind{"sact", UnitKind::kBottleneck, Halting::kSact},
        Kind{"sact_v1", UnitKind::kBottleneckV1, Halting::kSact},
        Kind{"sact_basic", UnitKind::kBasic, Halting::kSact},
        Kind{"sact_basic_v1", UnitKind::kBasicV1, Halting::kSact},
        Kind{"act", UnitKind::kBottleneck, Halting::kAct},
        Kind{"act_v1", UnitKind::kBasicV1, Halting::kAct},
        Kind{"small_stem",
             UnitKind::kBottleneck,
             Halting::kSact,
             Stem::kSmall,
             {3, 3},
             4,
             1,
             0,
             {},
             StrideOn::k3x3,
             StemPool::kSymmetric,
             1,
             {32, 33}},
        Kind{"tiles", UnitKind::kBottleneck, Halting::kSact, Stem::kImageNet, {4, 3}, 4, 3},
        Kind{"floor", UnitKind::kBottleneck, Halting::kSact, Stem::kImageNet, {4, 3}, 4, 1, 0.3},
        Kind{"floor_v1",
             UnitKind::kBottleneckV1,
             Halting::kSact,
             Stem::kImageNet,
             {4, 3},
             4,
             1,
             0.3},
        Kind{"shift",
             UnitKind::kBottleneck,
             Halting::kSact,
             Stem::kImageNet,
             {4, 3},
             4,
             1,
             0,
             {0.7, 0}},
        Kind{"budget",
             UnitKind::kBottleneck,
             Halting::kSact,
             Stem::kImageNet,
             {4, 3},
             4,
             1,
             0,
             {-1, 1}},
        Kind{"budget_tiles",
             UnitKind::kBottleneck,
             Halting::kSact,
             Stem::kImageNet,
             {4, 3},
             4,
             2,
             0,
             {-1, 1}},
        Kind{"budget_act",
             UnitKind::kBottleneck,
             Halting::kAct,
             Stem::kImageNet,
             {4, 3},
             4,
             1,
             0,
             {-1, 1}},
        Kind{"stride_1x1",
             UnitKind::kBottleneckV1,
             Halting::kSact,
             Stem::kImageNet,
             {2, 3},
             4,
             1,
             0,
             {},
             StrideOn::k1x1,
             StemPool::kSame},
        Kind{"single_units",
             UnitKind::kBottleneck,
             Halting::kSact,
             Stem::kImageNet,
             {1, 2, 1},
             5,
             1,
             0,
             {},
             StrideOn::k3x3,
             StemPool::kValid,
             3,
             {49, 65}}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace sact::engine
