// The baseline of an adaptive model.
#include "model/baseline.h"

#include <gtest/gtest.h>

#include "model/initial_weights.h"
#include "support/errors.h"
#include "support/temporary.h"

namespace sact {
namespace {

class Baseline : public ::testing::Test {
 protected:
  static ModelSpec spec(std::vector<int> units, Halting halting) {
    ModelSpec spec;
    spec.units = std::move(units);
    spec.halting = halting;
    spec.width = 4;
    spec.classes = 3;
    spec.labels = {"a", "b", "c"};
    spec.input.size = 64;
    return spec;
  }

  ModelFile file(const ModelSpec& spec) {
    const auto path = directory_ / ("m" + std::to_string(files_++));
    write_model(path, spec, initial_weights(spec));
    return ModelFile(path);
  }

  test::TemporaryDirectory directory_;
  int files_ = 0;
};

TEST_F(Baseline, TruncatedNetworkHasTheFirstUnitsAndAllElse) {
  const ModelFile full = file(spec({3, 4}, Halting::kNone));
  const ModelWeights cut = truncated(full, {2, 1});
  EXPECT_EQ(cut.spec.units, (std::vector<int>{2, 1}));
  EXPECT_EQ(cut.spec.labels, full.spec().labels);
  EXPECT_EQ(cut.spec.input.size, 64);
  const auto path = directory_ / "cut";
  write_model(path, cut.spec, cut.weights);
  const ModelFile written(path);
  EXPECT_TRUE(written.remarks().empty());
  for (const WeightInfo& weight : weight_list(written.spec())) {
    EXPECT_EQ(written.values(weight), full.values(weight)) << weight.name;
  }
  EXPECT_FALSE(written.find("stages.0.blocks.2.conv1.weight"));
  EXPECT_FALSE(written.find("stages.1.blocks.1.conv1.weight"));
}

TEST_F(Baseline, MeanUnitsAreRoundedAndKeptInside) {
  const ModelSpec plain = spec({3, 4, 23, 3}, Halting::kNone);
  const auto units = [&](double a, double b, double c, double d) {
    return baseline_units(std::vector<MeanStd>{{a, 0}, {b, 0}, {c, 0}, {d, 0}}, plain);
  };
  EXPECT_EQ(units(2.3, 3.8, 13.1, 2.7), (std::vector<int>{2, 4, 13, 3})) << "the paper's";
  EXPECT_EQ(units(2.6, 2.5, 4.49, 2.8), (std::vector<int>{3, 3, 4, 3}));
  EXPECT_EQ(units(0.2, 9, 23.4, 0), (std::vector<int>{1, 4, 23, 1}));
}

TEST_F(Baseline, OnlyAPlainNetworkOfTheSameKindWillDo) {
  const ModelFile adaptive = file(spec({2, 3}, Halting::kSact));
  check_baseline_source(adaptive, file(spec({5, 2}, Halting::kNone)));
  const auto refused = [&](const ModelSpec& plain) {
    return test::error_of([&] { check_baseline_source(adaptive, file(plain)); });
  };
  EXPECT_NE(refused(spec({2, 3}, Halting::kAct)).find("halting act"), std::string::npos);
  EXPECT_NE(refused(spec({2, 3, 1}, Halting::kNone)).find("blocks 3"), std::string::npos);
  ModelSpec other = spec({2, 3}, Halting::kNone);
  other.width = 8;
  EXPECT_NE(refused(other).find("width 8"), std::string::npos);
  other = spec({2, 3}, Halting::kNone);
  other.stem = Stem::kSmall;
  EXPECT_NE(refused(other).find("stem small"), std::string::npos);
  other = spec({2, 3}, Halting::kNone);
  other.unit = UnitKind::kBasic;
  EXPECT_NE(refused(other).find("unit kind basic"), std::string::npos);
  const ModelFile plain = file(spec({2, 3}, Halting::kNone));
  EXPECT_NE(test::error_of([&] { check_baseline_source(plain, plain); }).find("is a plain network"),
            std::string::npos);
}

TEST_F(Baseline, ResultMustBeOfThatModel) {
  const ModelFile adaptive = file(spec({2, 3}, Halting::kSact));
  EvalResult result;
  result.sizes.push_back({{64, 64}, 10, 0.5, 1, 1, 1, {1e6, 0}, {{1, 0}, {2, 0}}, {}});
  check_result_of(result, adaptive, "r.json");
  result.spec = adaptive.spec();
  check_result_of(result, adaptive, "r.json");
  result.spec->units = {3, 3};
  EXPECT_NE(test::error_of([&] { check_result_of(result, adaptive, "r.json"); }).find("3,3"),
            std::string::npos);
  result.spec.reset();
  result.sizes[0].units.pop_back();
  EXPECT_NE(test::error_of([&] { check_result_of(result, adaptive, "r.json"); }).find("1 blocks"),
            std::string::npos);
}

}  // namespace
}  // namespace sact
