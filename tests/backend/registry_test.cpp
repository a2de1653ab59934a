// Which back end does what was asked for, and what is said where none does.
#include "backend/registry.h"

#include <gtest/gtest.h>

#include "support/errors.h"

namespace sact {
namespace {

class NamedBackend : public Backend {
 public:
  NamedBackend(std::string name, Capabilities capabilities)
      : name_(std::move(name)), capabilities_(std::move(capabilities)) {}
  std::string name() const override { return name_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  std::shared_ptr<const LoadedNetwork> load(const NetworkSource&,
                                            const LoadOptions&) const override {
    return nullptr;
  }

 private:
  std::string name_;
  Capabilities capabilities_;
};

class Registry : public ::testing::Test {
 protected:
  Registry() {
    Capabilities fast, wide;
    fast.types = {{"cpu", Precision::kFloat32}, {"cpu", Precision::kBFloat16}};
    fast.detectors = true;
    wide.types = {{"cpu", Precision::kFloat32},
                  {"cuda", Precision::kFloat32},
                  {"cuda", Precision::kBFloat16, /*evaluation_only=*/true}};
    wide.shares_processes = true;
    registry_.add(std::make_unique<NamedBackend>("fast", fast));
    registry_.add(std::make_unique<NamedBackend>("wide", wide));
  }

  std::string chosen(const BackendRequest& request) { return registry_.choose(request).name(); }
  std::string refusal(const BackendRequest& request) {
    return test::error_of([&] { registry_.choose(request); });
  }

  BackendRegistry registry_;
};

TEST_F(Registry, TheFirstThatSupportsTheRequestIsChosen) {
  EXPECT_EQ(chosen({}), "fast");
  EXPECT_EQ(chosen({.device = "cuda"}), "wide");
  EXPECT_EQ(chosen({.precision = Precision::kBFloat16}), "fast");
  EXPECT_EQ(chosen({.evaluation = true, .several_processes = true}), "wide");
  EXPECT_EQ(chosen({.device = "cuda", .precision = Precision::kBFloat16, .evaluation = true}),
            "wide");
  EXPECT_EQ(chosen({.detector = true}), "fast");
}

TEST_F(Registry, WhoeverIsNamedIsTakenOrRefusedWithAWayOut) {
  EXPECT_EQ(chosen({.name = "wide"}), "wide");
  EXPECT_EQ(
      refusal({.name = "fast", .device = "cuda"}),
      "device cuda: the back end 'fast' does not run there; use back end wide, or device cpu");
  EXPECT_EQ(refusal({.name = "wide", .precision = Precision::kBFloat16}),
            "type bf16: the back end 'wide' does not have it on cpu; use back end fast, or type "
            "fp32");
  EXPECT_EQ(refusal({.name = "fast", .evaluation = true, .several_processes = true}),
            "the back end 'fast' does not share work with other processes; use back end wide, or "
            "start one process without WORLD_SIZE");
  EXPECT_EQ(refusal({.name = "wide", .detector = true}),
            "the back end 'wide' does not run detectors; use back end fast");
}

TEST_F(Registry, WhereNoneDoesTheOneWithTheDeviceSaysWhy) {
  EXPECT_EQ(refusal({.device = "cuda", .precision = Precision::kBFloat16}),
            "bf16 on cuda is for evaluations only; use device cpu, or type fp32");
  EXPECT_EQ(refusal({.device = "abacus"}),
            "device abacus: the back end 'fast' does not run there; use device cpu");
}

TEST_F(Registry, WhoeverIsTakenOnRequestAloneRunsDetectorsThatNoOtherDoes) {
  Capabilities on_gpus;
  on_gpus.types = {{"cuda", Precision::kFloat32}, {"cuda", Precision::kFloat16}};
  on_gpus.detectors = true;
  registry_.add_on_request(std::make_unique<NamedBackend>("asked", on_gpus));
  EXPECT_EQ(chosen({.device = "cuda"}), "wide");
  EXPECT_EQ(chosen({.name = "asked", .device = "cuda"}), "asked");
  EXPECT_EQ(chosen({.device = "cuda", .detector = true}), "asked");
  EXPECT_EQ(chosen({.detector = true}), "fast");
  EXPECT_EQ(refusal({.device = "cuda", .precision = Precision::kFloat16}),
            "type fp16: the back end 'wide' does not have it on cuda; use back end asked, or type "
            "fp32");
}

TEST_F(Registry, ARefusalSpeaksInTheTermsOfWhoAsked) {
  const RequestTerms options{"--backend", "--device", "--dtype"};
  EXPECT_EQ(refusal({.name = "fast", .device = "cuda", .terms = options}),
            "--device cuda: the back end 'fast' does not run there; use --backend wide, or "
            "--device cpu");
  EXPECT_EQ(refusal({.name = "wide", .precision = Precision::kBFloat16, .terms = options}),
            "--dtype bf16: the back end 'wide' does not have it on cpu; use --backend fast, or "
            "--dtype fp32");
}

TEST_F(Registry, ABackEndThatDoesNotExistIsNamedBesideThoseThatDo) {
  EXPECT_EQ(refusal({.name = "slow"}), "there is no back end 'slow'; known: fast, wide");
  EXPECT_EQ(registry_.names(), (std::vector<std::string>{"fast", "wide"}));
}

TEST(Precisions, NamesGoBothWays) {
  for (const std::string& name : precision_names()) {
    EXPECT_EQ(precision_name(precision_from_name(name)), name);
  }
  EXPECT_EQ(test::error_of([] { precision_from_name("fp4"); }),
            "there is no type of operands 'fp4'; known: fp32, bf16, fp16, int8");
}

}  // namespace
}  // namespace sact
