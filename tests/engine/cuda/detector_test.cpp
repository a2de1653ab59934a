// Detectors of the CUDA engine against the CPU's: on a GPU, or with its kernels emulated on the
// CPU.
#include "engine/cuda/detector_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "detect/detector.h"
#include "engine/cpu/detector_session.h"
#include "engine/cuda/testing.h"
#include "engine/plans.h"

namespace sact::engine {
namespace {

using sact::test::random_planes;

struct Kind {
  std::string name;
  UnitKind unit;
  Halting halting;
  Stem stem = Stem::kImageNet;
  int width = 4;
  int proposals = 12;
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.name;
}

#ifdef SACT_EMULATED  // takes its time
constexpr uint64_t kSeeds = 1;
constexpr Size kSize{64, 79};
constexpr int kMore = 1;
#else
constexpr uint64_t kSeeds = 3;
constexpr Size kSize{320, 411};
constexpr int kMore = 8;
#endif

ModelSpec spec_of(const Kind& kind) {
  ModelSpec spec = sact::test::tiny_spec(kind.halting, {2, 2, 2});
  spec.stem = kind.stem;
  spec.unit = kind.unit;
  spec.width = kind.width;
  spec.classes = 4;
  spec.detection.emplace();
  spec.detection->anchor_sizes = {16, 40};
  spec.detection->proposal_channels = kind.width >= 64 ? 64 : 20;
  spec.detection->proposals = kind.proposals * kMore;
  spec.detection->crop = 12;
  spec.detection->pool = 3;
  return spec;
}

/// Layers that are small in fresh detectors say something.
test::WeightMap weights_of(const ModelSpec& spec, uint64_t seed) {
  test::WeightMap values;
  Random random(seed);
  for (Weight& weight : sact::test::random_weights(spec, seed)) {
    if (weight.info.role == WeightRole::kLinear) {
      for (float& value : weight.values) value = float(0.1 * random.normal());
    }
    values[weight.info.name] = std::move(weight.values);
  }
  return values;
}

struct Both {
  std::unique_ptr<CpuDetectorSession> cpu;
  std::unique_ptr<CudaDetectorSession> gpu;
};

Both sessions_of(const ModelSpec& spec, uint64_t seed, cuda::Element type,
                 const HaltingControl& halting = {}) {
  const test::WeightMap values = weights_of(spec, seed);
  const WeightSource source = [&](const WeightInfo& info) { return values.at(info.name); };
  return {std::make_unique<CpuDetectorSession>(
              std::make_shared<DetectorPlan>(spec, source, kernels::chosen_table(),
                                             kernels::DataType::kFloat32),
              2, halting),
          std::make_unique<CudaDetectorSession>(
              std::make_shared<CudaDetectorPlan>(spec, source, type, open_device()), halting)};
}

double relative_error(const std::vector<float>& found, const std::vector<float>& right) {
  EXPECT_EQ(found.size(), right.size());
  double error = 0, norm = 1e-30;
  for (size_t i = 0; i < right.size(); ++i) {
    error += std::pow(double(found[i]) - double(right[i]), 2);
    norm += std::pow(double(right[i]), 2);
  }
  return std::sqrt(error / norm);
}

bool same_units(const std::vector<BlockResult>& found, const std::vector<BlockResult>& right) {
  EXPECT_EQ(found.size(), right.size());
  for (size_t i = 0; i < right.size(); ++i) {
    if (found[i].units != right[i].units) return false;
  }
  return true;
}

bool near(const Box& found, const Box& right) {
  constexpr float kPixels = 0.02f;
  return std::fabs(found.x0 - right.x0) < kPixels && std::fabs(found.y0 - right.y0) < kPixels &&
         std::fabs(found.x1 - right.x1) < kPixels && std::fabs(found.y1 - right.y1) < kPixels;
}

/// How many of `right` have one alike. Not all need to: of two scores that are nearly the same
/// either may be the higher one, and then another box is suppressed.
template <typename Value, typename Alike>
size_t count_alike(const std::vector<Value>& found, const std::vector<Value>& right,
                   const Alike& alike) {
  return size_t(std::count_if(right.begin(), right.end(), [&](const Value& one) {
    return std::any_of(found.begin(), found.end(),
                       [&](const Value& other) { return alike(other, one); });
  }));
}
size_t nearly_all(size_t count) {
  return count - count / 20;
}

class CudaDetector : public ::testing::TestWithParam<Kind> {};

TEST_P(CudaDetector, FindsWhatTheCpuFinds) {
  SACT_NEEDS_GPU();
  const ModelSpec spec = spec_of(GetParam());
  int compared = 0, objects = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Both sessions = sessions_of(spec, seed, cuda::Element::kFloat32);
    const Size size = GetParam().stem == Stem::kSmall ? Size{kSize.height / 2, kSize.width / 2}
                                                      : kSize;  // of as many features
    const std::vector<float> planes = random_planes(1, size, seed + 10);
    detect::ObjectDetector cpu(spec, std::move(sessions.cpu)), gpu(spec, std::move(sessions.gpu));
    const DetectOptions options{.all_boxes = true};
    const detect::DetectorOutputs right = cpu.run(planes_view(planes, 1, size), options);
    // The second run is recorded, the third starts what was.
    for (int run = 0; run < 3; ++run) {
      SCOPED_TRACE(run);
      const detect::DetectorOutputs found = gpu.run(planes_view(planes, 1, size), options);
      // A score at the threshold may fall on either side, and then everything after it differs.
      if (!same_units(found.extractor.blocks, right.extractor.blocks)) continue;
      EXPECT_EQ(found.extractor.flops, right.extractor.flops);
      EXPECT_LT(relative_error(found.anchors.scores, right.anchors.scores), 1e-4);
      EXPECT_LT(relative_error(found.anchors.codes, right.anchors.codes), 1e-4);
      EXPECT_NEAR(double(found.proposals.boxes.size()), double(right.proposals.boxes.size()), 1);
      EXPECT_GE(count_alike(found.proposals.boxes, right.proposals.boxes, near),
                nearly_all(right.proposals.boxes.size()));
      EXPECT_GT(found.ms.crops, 0);
      EXPECT_GT(found.ms.boxes, 0);
      const auto detections_of = [&](const detect::DetectorOutputs& outputs) {
        return detect::find_detections(outputs.proposals.boxes, outputs.boxes.outputs, spec.classes,
                                       size, {0.3f, 10, 0.6f});
      };
      const auto detections = detections_of(found), expected = detections_of(right);
      const auto alike = [](const detect::Detection& one, const detect::Detection& other) {
        return one.label == other.label && std::fabs(one.score - other.score) < 1e-3f &&
               near(one.box, other.box);
      };
      EXPECT_GE(count_alike(detections, expected, alike) + 1, expected.size());
      EXPECT_GE(count_alike(expected, detections, alike) + 1, detections.size());
      // The same boxes say the same.
      const BoxOutputs boxes = gpu.session().classify(right.proposals.boxes);
      if (!same_units(boxes.maps, right.boxes.maps)) continue;
      EXPECT_LT(relative_error(boxes.outputs, right.boxes.outputs), 1e-3);
      EXPECT_EQ(boxes.flops, right.boxes.flops);
      objects += int(expected.size());
      ++compared;
    }
  }
  EXPECT_GE(compared, 2);
  EXPECT_GT(objects, 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, CudaDetector,
                         ::testing::Values(Kind{"plain", UnitKind::kBottleneck, Halting::kNone},
                                           Kind{"sact", UnitKind::kBottleneck, Halting::kSact},
                                           Kind{"act_small_stem", UnitKind::kBottleneck,
                                                Halting::kAct, Stem::kSmall, 4, 6},
                                           Kind{"sact_basic", UnitKind::kBasic, Halting::kSact},
                                           Kind{"sact_v1", UnitKind::kBottleneckV1,
                                                Halting::kSact}),
                         [](const auto& info) { return info.param.name; });

/// On tensor cores: each stage on what the stage before gave on the CPU, as far as it can be.
TEST(CudaDetectorHalf, ABfloat16DetectorSaysAboutTheSame) {
  SACT_NEEDS_GPU();
  for (const Halting halting : {Halting::kNone, Halting::kSact}) {
    SCOPED_TRACE(int(halting));
    const Kind kind{"", UnitKind::kBottleneckV1, halting, Stem::kImageNet, 64, 6};
    const ModelSpec spec = spec_of(kind);
    Both sessions = sessions_of(spec, 5, cuda::Element::kBFloat16);
    const std::vector<float> planes = random_planes(1, kSize, 6);
    const InputView image = planes_view(planes, 1, kSize);
    sessions.cpu->extract(image);
    sessions.gpu->extract(image);
    const AnchorOutputs right = sessions.cpu->score_anchors();
    const AnchorOutputs found = sessions.gpu->score_anchors();
    EXPECT_LT(relative_error(found.scores, right.scores), 0.06);
    EXPECT_LT(relative_error(found.codes, right.codes), 0.06);
    const std::vector<Box> boxes = {
        {3, 5, 40, 60}, {0, 0, float(kSize.width), float(kSize.height)}, {20.5f, 10, 70, 22}};
    const BoxOutputs right_boxes = sessions.cpu->classify(boxes);
    const BoxOutputs found_boxes = sessions.gpu->classify(boxes);
    EXPECT_LT(relative_error(found_boxes.outputs, right_boxes.outputs), 0.08);
  }
}

TEST(CudaDetectorSession, TakesAnotherHaltingControlAndAnotherImage) {
  SACT_NEEDS_GPU();
  const Kind kind{"", UnitKind::kBottleneck, Halting::kSact};
  const ModelSpec spec = spec_of(kind);
  const std::vector<Box> boxes = {{3, 5, 40, 60}, {10, 0, 60, 50}};
  Both steered = sessions_of(spec, 3, cuda::Element::kFloat32);
  for (const HaltingControl control : {HaltingControl{0.5, 0}, HaltingControl{-0.5, 0}}) {
    for (const Size size : {kSize, Size{kSize.width, kSize.height}}) {
      const std::vector<float> planes = random_planes(1, size, 4);
      steered.gpu->set_halting(control);
      Both fresh = sessions_of(spec, 3, cuda::Element::kFloat32, control);
      EXPECT_EQ(steered.gpu->extract(planes_view(planes, 1, size)).flops,
                fresh.gpu->extract(planes_view(planes, 1, size)).flops);
      EXPECT_EQ(steered.gpu->score_anchors().codes, fresh.gpu->score_anchors().codes);
      EXPECT_EQ(steered.gpu->classify(boxes).outputs, fresh.gpu->classify(boxes).outputs);
    }
  }
  steered.gpu->set_interruption([] { return true; });
  EXPECT_THROW(steered.gpu->classify(boxes), Interrupted);
}

TEST(CudaDetectorSession, RefusesAnImageWhoseFeaturesAreNotFinite) {
  SACT_NEEDS_GPU();
  const ModelSpec spec = spec_of({"", UnitKind::kBottleneck, Halting::kNone});
  Both sessions = sessions_of(spec, 3, cuda::Element::kFloat32);
  std::vector<float> planes = random_planes(1, kSize, 4);
  sessions.gpu->extract(planes_view(planes, 1, kSize));
  planes[100] = std::numeric_limits<float>::infinity();
  EXPECT_THROW(sessions.gpu->extract(planes_view(planes, 1, kSize)), Error);
  planes[100] = 0;
  EXPECT_NO_THROW(sessions.gpu->extract(planes_view(planes, 1, kSize)));
}

}  // namespace
}  // namespace sact::engine
