// Networks in whole numbers of 8 bits: near to what they are in floats, on every instruction set.
#include "engine/cpu/quantized.h"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>

#include "engine/plans.h"
#include "kernels/tested_tables.h"
#include "model/activation_range.h"
#include "support/errors.h"

namespace sact::engine {
namespace {

using kernels::DataType;
using sact::test::random_planes;
using sact::test::tiny_spec;

constexpr Size kSize{70, 90};
constexpr int kImages = 3;

class Ranges : public OperandObserver {
 public:
  void see(const std::string& layer, std::span<const float* const> rows, int depth) override {
    const std::lock_guard lock(mutex_);
    for (const float* row : rows) ranges_[layer].add({row, size_t(depth)});
  }
  const ActivationRange& of(const std::string& layer) const { return ranges_.at(layer); }
  bool saw(const std::string& layer) const { return ranges_.contains(layer); }

 private:
  std::mutex mutex_;
  std::map<std::string, ActivationRange> ranges_;
};

struct Calibrated {
  ModelSpec spec;
  test::WeightMap weights;
  InputScales scales;
  std::vector<ImageResult> in_floats;

  std::shared_ptr<const Plan> plan(const kernels::Table& table,
                                   DataType type = DataType::kInt8) const {
    return std::make_shared<Plan>(
        spec, [&](const WeightInfo& info) { return weights.at(info.name); }, table, type,
        Multiplications::kDirect, scales);
  }
};

Calibrated calibrated(const ModelSpec& spec, const std::vector<float>& planes) {
  Calibrated network{spec, test::random_weight_map(spec, 4), {}, {}};
  CpuSession session(network.plan(kernels::chosen_table(), DataType::kFloat32), 2);
  Ranges ranges;
  session.observe(&ranges);
  network.in_floats = session.run(planes, kImages, kSize);
  Calibrated dense = network;  // which comes to every layer
  dense.spec.halting = Halting::kNone;
  CpuSession all(dense.plan(kernels::chosen_table(), DataType::kFloat32), 2);
  all.observe(&ranges);
  all.run(planes, kImages, kSize);
  for (const QuantizedLayer& layer : quantized_layers(spec)) {
    network.scales[layer.name] = ranges.of(layer.reads_like).scale(RangeMethod::kMax);
  }
  return network;
}

double relative_error(const std::vector<ImageResult>& found,
                      const std::vector<ImageResult>& right) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < right.size(); ++i) {
    for (size_t c = 0; c < right[i].logits.size(); ++c) {
      error += std::pow(double(found[i].logits[c]) - double(right[i].logits[c]), 2);
      norm += std::pow(double(right[i].logits[c]), 2);
    }
  }
  return std::sqrt(error / norm);
}

TEST(Quantized, NetworksOfEveryKindAreNearToWhatTheyAreInFloats) {
  const std::vector<float> planes = random_planes(kImages, kSize, 7);
  for (const UnitKind unit :
       {UnitKind::kBottleneck, UnitKind::kBasic, UnitKind::kBottleneckV1, UnitKind::kBasicV1}) {
    for (const int width : {5, 32}) {
      ModelSpec spec = tiny_spec(Halting::kNone, {2, 3, 2});
      spec.unit = unit;
      spec.width = width;
      const Calibrated network = calibrated(spec, planes);
      for (const kernels::Table* table : kernels::tested_tables()) {
        SCOPED_TRACE(std::string(table->name) + " " + std::string(name_of(unit)));
        CpuSession session(network.plan(*table), 2);
        const double error = relative_error(session.run(planes, kImages, kSize), network.in_floats);
        EXPECT_LT(error, 0.05);
        EXPECT_GT(error, 0);  // they are whole numbers
      }
    }
  }
}

TEST(Quantized, WithHaltingPositionsTakeAboutTheSameUnits) {
  const std::vector<float> planes = random_planes(kImages, kSize, 8);
  for (const Halting halting : {Halting::kAct, Halting::kSact}) {
    for (const UnitKind unit : {UnitKind::kBottleneck, UnitKind::kBasicV1}) {
      ModelSpec spec = tiny_spec(halting, {4, 5, 3});
      spec.unit = unit;
      spec.width = 16;
      const Calibrated network = calibrated(spec, planes);
      for (const kernels::Table* table : kernels::tested_tables()) {
        SCOPED_TRACE(std::string(table->name) + " " + std::string(name_of(unit)));
        CpuSession session(network.plan(*table), 2);
        const auto found = session.run(planes, kImages, kSize);
        int64_t positions = 0, same = 0;
        for (size_t i = 0; i < found.size(); ++i) {
          for (size_t b = 0; b < found[i].blocks.size(); ++b) {
            const auto &units = found[i].blocks[b].units,
                       &right = network.in_floats[i].blocks[b].units;
            for (size_t p = 0; p < units.size(); ++p, ++positions) same += units[p] == right[p];
          }
        }
        EXPECT_GT(double(same), 0.9 * double(positions));
        EXPECT_LT(relative_error(found, network.in_floats), 0.15);
      }
    }
  }
}

TEST(Quantized, ABatchGivesEachImageWhatItGetsAlone) {
  const std::vector<float> planes = random_planes(kImages, kSize, 9);
  const Calibrated network = calibrated(tiny_spec(Halting::kSact, {3, 3}), planes);
  for (const kernels::Table* table : kernels::tested_tables()) {
    SCOPED_TRACE(table->name);
    CpuSession session(network.plan(*table), 2), alone(network.plan(*table), 1);
    const auto together = session.run(planes, kImages, kSize);
    const size_t image = planes.size() / kImages;
    for (size_t i = 0; i < kImages; ++i) {
      const auto found = alone.run(std::span(planes).subspan(i * image, image), 1, kSize);
      EXPECT_EQ(found[0].blocks[0].units, together[i].blocks[0].units);
      for (size_t c = 0; c < found[0].logits.size(); ++c) {
        EXPECT_NEAR(found[0].logits[c], together[i].logits[c],
                    1e-3 * (1 + std::abs(found[0].logits[c])));
      }
    }
  }
}

TEST(Quantized, WhatIsNotFiniteIsNotHidden) {
  const std::vector<float> planes = random_planes(kImages, kSize, 9);
  Calibrated network = calibrated(tiny_spec(Halting::kNone, {2, 2}), planes);
  for (auto& [name, values] : network.weights) {
    if (name != "stages.0.blocks.1.conv3.weight" && name != "stages.1.blocks.0.conv3.weight")
      continue;
    for (float& value : values) value *= 1e38f;
  }
  CpuSession session(network.plan(kernels::chosen_table()), 1);
  for (const ImageResult& result : session.run(planes, kImages, kSize)) {
    bool finite = true;
    for (const float logit : result.logits) finite &= bool(std::isfinite(logit));
    EXPECT_FALSE(finite);
  }
}

TEST(Quantized, ObserversSeeWhatLayersReadAndNothingBelowZero) {
  const ModelSpec spec = tiny_spec(Halting::kSact, {2, 2});
  CpuSession session(test::random_plan(spec, 3), 2);
  struct Lowest : OperandObserver {
    std::mutex mutex;
    std::map<std::string, float> lowest;
    void see(const std::string& layer, std::span<const float* const> rows, int depth) override {
      const std::lock_guard lock(mutex);
      for (const float* row : rows) {
        for (int k = 0; k < depth; ++k) {
          float& least = lowest.emplace(layer, 0.0f).first->second;
          least = std::min(least, row[k]);
        }
      }
    }
  } lowest;
  session.observe(&lowest);
  session.run(random_planes(kImages, kSize, 2), kImages, kSize);
  session.observe(nullptr);
  EXPECT_LT(lowest.lowest.at("stem.conv"), 0);
  EXPECT_TRUE(lowest.lowest.contains("head.fc"));
  for (const QuantizedLayer& layer : quantized_layers(spec)) {
    EXPECT_EQ(lowest.lowest.at(layer.name), 0) << layer.name;
  }
}

TEST(Quantized, WithoutScalesTheErrorSaysHowToGetThem) {
  const ModelSpec spec = tiny_spec(Halting::kNone, {1, 1});
  const test::WeightMap weights = test::random_weight_map(spec, 1);
  InputScales scales;
  for (const QuantizedLayer& layer : quantized_layers(spec)) scales[layer.name] = 1;
  scales.erase("stages.1.blocks.0.conv2");
  const std::string message = sact::test::error_of([&] {
    Plan(
        spec, [&](const WeightInfo& info) { return weights.at(info.name); },
        kernels::chosen_table(), DataType::kInt8, Multiplications::kFewest, scales,
        "m.safetensors");
  });
  EXPECT_EQ(message,
            "m.safetensors: has no scales to run in int8; 'sact export m.safetensors --dtype int8 "
            "--calibrate PHOTOGRAPHS --out FILE' makes a model that has");
}

}  // namespace
}  // namespace sact::engine
