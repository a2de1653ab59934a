// The CUDA engine against the CPU's: on a GPU, or with its kernels emulated on the CPU.
#include "engine/cuda/session.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

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

/// With adaptive blocks over lists, or dense.
CudaSettings over_lists() {
  return cuda_settings(open_device(), "dense");
}
CudaSettings dense() {
  return cuda_settings(open_device(), "lists");
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
    const auto plan = cuda_plan(spec, weights, cuda::Element::kFloat32);
    CudaSession gpu(plan, control, over_lists());
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
    // What was recorded gives the same bits again, and so do blocks that run dense.
    const auto again = gpu.run(planes, kind.images, size);
    for (size_t i = 0; i < right.size(); ++i) EXPECT_EQ(again[i].logits, found[i].logits);
    if (!spec.adaptive()) continue;
    const auto everywhere = CudaSession(plan, control, dense()).run(planes, kind.images, size);
    for (size_t i = 0; i < right.size(); ++i) {
      EXPECT_EQ(everywhere[i].logits, found[i].logits);
      EXPECT_EQ(differing_units(everywhere[i], found[i]), 0);
    }
  }
}

/// On tensor cores, where there are some: widths of whole tiles.
class CudaHalf : public ::testing::TestWithParam<Kind> {};

void expect_about_the_same(const Kind& kind, cuda::Element type, double tolerance,
                           int64_t one_unit_in) {
  const ModelSpec spec = spec_of(kind);
  const Size size = size_of(kind);
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const test::WeightMap weights = test::random_weight_map(spec, seed);
    const std::vector<float> planes = random_planes(kind.images, size, seed + 10);
    CpuSession cpu(test::plan_of(spec, weights), 2);
    const auto right = cpu.run(planes, kind.images, size);
    const auto plan = cuda_plan(spec, weights, type);
    for (const CudaSettings& settings : {over_lists(), dense()}) {
      SCOPED_TRACE(settings.dense ? "dense" : "over lists");
      if (settings.dense && !spec.adaptive()) continue;
      CudaSession gpu(plan, {}, settings);
      const auto found = gpu.run(planes, kind.images, size);
      for (size_t i = 0; i < right.size(); ++i) {
        EXPECT_LE(differing_units(found[i], right[i]), positions_of(right[i]) / one_unit_in + 2);
        EXPECT_LT(relative_error(found[i].logits, right[i].logits), tolerance);
      }
      const auto again = gpu.run(planes, kind.images, size);
      for (size_t i = 0; i < right.size(); ++i) EXPECT_EQ(again[i].logits, found[i].logits);
    }
  }
}

TEST_P(CudaHalf, ABfloat16NetworkSaysAboutTheSame) {
  SACT_NEEDS_GPU();
  expect_about_the_same(GetParam(), cuda::Element::kBFloat16, 0.06, 12);
}

TEST_P(CudaHalf, AFloat16NetworkSaysNearlyTheSame) {
  SACT_NEEDS_GPU();
#ifdef SACT_EMULATED
  const std::string& name = GetParam().name;
  if (name != "plain_v1" && name != "sact") GTEST_SKIP() << "takes its time";
#endif
  expect_about_the_same(GetParam(), cuda::Element::kFloat16, 0.01, 50);
}

TEST(CudaSession, TakesAnotherHaltingControlAndCanBeInterrupted) {
  SACT_NEEDS_GPU();
  const Kind kind{"sact", UnitKind::kBottleneck, Halting::kSact};
  const ModelSpec spec = spec_of(kind);
  const Size size = size_of(kind);
  const auto plan = cuda_plan(spec, test::random_weight_map(spec, 3), cuda::Element::kFloat32);
  const std::vector<float> planes = random_planes(2, size, 4);
  CudaSession steered(plan);
  const auto usual = steered.run(planes, 2, size);
  const double budget = 0.5 * (1 + HardBudget::smallest(spec, size));
  for (const HaltingControl control : {HaltingControl{0.5, 0}, HaltingControl{-2, budget}, {}}) {
    steered.set_halting(control);
    const auto found = steered.run(planes, 2, size);
    CudaSession fresh(plan, control);
    const auto right = fresh.run(planes, 2, size);
    for (size_t i = 0; i < right.size(); ++i) {
      EXPECT_EQ(found[i].flops, right[i].flops);
      EXPECT_EQ(found[i].logits, right[i].logits);
    }
    EXPECT_EQ(found[0].logits == usual[0].logits, control.shift == 0);
  }
  steered.set_interruption([] { return true; });
  EXPECT_THROW(steered.run(planes, 2, size), Interrupted);
  steered.set_interruption({});
  EXPECT_EQ(steered.run(planes, 2, size)[0].logits, usual[0].logits);
}

TEST(CudaSession, ReadsImagesWhereItsOwnMemoryHasThem) {
  SACT_NEEDS_GPU();
  const Kind kind{"plain", UnitKind::kBottleneck, Halting::kNone};
  const ModelSpec spec = spec_of(kind);
  const Size size = size_of(kind);
  CudaSession session(cuda_plan(spec, test::random_weight_map(spec, 3), cuda::Element::kFloat32));
  for (const int images : {1, 3, 2}) {
    const std::vector<float> planes = random_planes(images, size, uint64_t(images));
    const auto right = session.run(planes, images, size);
    const std::span<float> own = session.input_memory(int64_t(planes.size()));
    ASSERT_EQ(own.size(), planes.size());
    std::copy(planes.begin(), planes.end(), own.begin());
    const auto found = session.run(own, images, size);
    for (size_t i = 0; i < right.size(); ++i) EXPECT_EQ(found[i].logits, right[i].logits);
  }
}

TEST(CudaSettings, WhatIsLeftOutChangesNoResult) {
  SACT_NEEDS_GPU();
  const Kind kind{"sact", UnitKind::kBottleneck, Halting::kSact, Stem::kImageNet, {3, 2}, 64};
  const ModelSpec spec = spec_of(kind);
  const test::WeightMap weights = test::random_weight_map(spec, 4);
  const std::vector<float> planes = random_planes(kind.images, size_of(kind), 5);
  const auto right = CpuSession(test::plan_of(spec, weights), 2).run(planes, 2, size_of(kind));
  const auto plan = cuda_plan(spec, weights, cuda::Element::kBFloat16);
  for (const char* without : {"hopper", "tensor-cores", "overlap", "sharing,graphs", "scores",
                              "dense", "lists", "hopper,lists"}) {
    SCOPED_TRACE(without);
    CudaSession gpu(plan, {}, cuda_settings(plan->device, without));
    for (int run = 0; run < 2; ++run) {
      const auto found = gpu.run(planes, 2, size_of(kind));
      for (size_t i = 0; i < right.size(); ++i) {
        EXPECT_LT(relative_error(found[i].logits, right[i].logits), 0.06);
      }
    }
  }
}

TEST(CudaSettings, ShapesThatWereMeasuredChangeNoBit) {
  SACT_NEEDS_GPU();
  const Kind kind{"sact", UnitKind::kBottleneck, Halting::kSact, Stem::kImageNet, {2}, 64};
  const ModelSpec spec = spec_of(kind);
  const test::WeightMap weights = test::random_weight_map(spec, 4);
  const std::vector<float> planes = random_planes(kind.images, size_of(kind), 5);
  DeviceFacts device = open_device();
  device.multiprocessors = 2;  // so that no blocks share the depth of a tile
  const auto run_twice = [&](const char* without) {
    const auto plan = std::make_shared<CudaPlan>(
        spec, [&](const WeightInfo& info) { return weights.at(info.name); },
        cuda::Element::kBFloat16, device);
    CudaSession gpu(plan, {}, cuda_settings(device, without));
    gpu.run(planes, 2, size_of(kind));
    return gpu.run(planes, 2, size_of(kind));  // recorded
  };
  const auto usual = run_twice("tuning"), tuned = run_twice("");
  for (size_t i = 0; i < usual.size(); ++i) {
    EXPECT_EQ(tuned[i].logits, usual[i].logits);
    EXPECT_EQ(differing_units(tuned[i], usual[i]), 0);
  }
}

TEST(CudaSettings, LeaveOutWhatIsNamed) {
  DeviceFacts hopper;
  hopper.major = 9;
  EXPECT_STREQ(cuda_settings(hopper, "").products_name(), "wgmma");
  EXPECT_TRUE(cuda_settings(hopper, "hopper").overlap);
  EXPECT_STREQ(cuda_settings(hopper, "graphs,hopper").products_name(), "mma");
  EXPECT_FALSE(cuda_settings(hopper, "graphs,hopper").graphs);
  EXPECT_STREQ(cuda_settings(hopper, "tensor-cores,hopper").products_name(), "plain");
  DeviceFacts older;
  older.major = 8;
  EXPECT_STREQ(cuda_settings(older, "scores").products_name(), "mma");
  EXPECT_FALSE(cuda_settings(older, "scores").scores);
  EXPECT_FALSE(cuda_settings(older, "").overlap);
  EXPECT_THROW(cuda_settings(older, "graphs,speed"), Error);
  EXPECT_THROW(cuda_settings(older, "lists,dense"), Error);
}

TEST(CudaSettings, BlocksOfFewRowsRunDense) {
  DeviceFacts hopper;
  hopper.major = 9;
  const CudaSettings usual = cuda_settings(hopper, "");
  EXPECT_TRUE(usual.runs_dense({1, 56, 56}, 132));
  EXPECT_FALSE(usual.runs_dense({64, 56, 56}, 132));
  EXPECT_FALSE(usual.runs_dense({1, 56, 56}, 16));
  EXPECT_FALSE(cuda_settings(hopper, "dense").runs_dense({1, 1, 1}, 132));
  EXPECT_TRUE(cuda_settings(hopper, "lists").runs_dense({64, 56, 56}, 132));
}

TEST(CudaLayers, TellWhatTheyMoveAndWhatTheDeviceReaches) {
  SACT_NEEDS_GPU();
  const Kind kind{"plain", UnitKind::kBottleneck, Halting::kNone, Stem::kImageNet, {2, 1}, 64};
  const ModelSpec spec = spec_of(kind);
  const test::WeightMap weights = test::random_weight_map(spec, 4);
  const Size size{32, 64};
  const std::vector<float> planes = random_planes(2, size, 5);
  DeviceFacts device = open_device();
  device.multiprocessors = 2;  // an emulation multiplies slowly
  CudaSession gpu(std::make_shared<CudaPlan>(
      spec, [&](const WeightInfo& info) { return weights.at(info.name); }, cuda::Element::kBFloat16,
      device));
  const auto layers = gpu.time_layers(planes_view(planes, 2, size));
  std::map<std::string, double> bytes;
  for (const LayerTime& layer : layers) {
    EXPECT_GT(layer.seconds, 0);
    EXPECT_GT(layer.bytes_per_second, 0);
    EXPECT_GT(layer.operations_per_second, 0);
    EXPECT_EQ(layer.ceiling_seconds(), std::max(layer.bytes / layer.bytes_per_second,
                                                layer.operations() / layer.operations_per_second));
    bytes[layer.name] = layer.bytes;
  }
  const double rows = 2 * 8 * 16;  // of block 1; block 2 has a quarter
  EXPECT_EQ(bytes.at("stages.0.blocks.1.conv1"), 2 * (rows * (256 + 64) + 256 * 64));
  EXPECT_EQ(bytes.at("stages.0.blocks.1.conv2"), 2 * (rows * (64 + 64) + 9 * 64 * 64));
  EXPECT_EQ(bytes.at("stages.0.blocks.1.conv3"), 2 * (rows * (64 + 256 + 256) + 64 * 256));
  EXPECT_EQ(bytes.at("stages.1.blocks.0.conv2"), 2 * (rows * 128 + rows / 4 * 128 + 9 * 128 * 128));
  EXPECT_EQ(bytes.at("stages.1.blocks.0.downsample.conv"),
            2 * (rows / 4 * (256 + 512) + 256 * 512));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, CudaHalf,
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
