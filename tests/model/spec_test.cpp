// ModelSpec: JSON, validation, sizes.
#include "model/spec.h"

#include <gtest/gtest.h>

#include "io/json.h"
#include "support/errors.h"

namespace sact {
namespace {

TEST(Spec, MissingKeysTakeTheirDefaults) {
  const ModelSpec spec = spec_from_json("{}", "x");
  EXPECT_EQ(spec.units, (std::vector<int>{3, 4, 23, 3}));
  EXPECT_EQ(spec.halting, Halting::kNone);
  EXPECT_EQ(spec.width, 64);
  EXPECT_EQ(spec.classes, 1000);
  EXPECT_DOUBLE_EQ(spec.epsilon, 0.01);
  EXPECT_TRUE(spec.halting_norm);
  EXPECT_EQ(spec.input.size, 224);
  EXPECT_DOUBLE_EQ(spec.input.crop, 0.875);
}

TEST(Spec, RoundTripKeepsEveryKeyAlsoUnknownOnes) {
  const std::string text =
      R"({"stem":"small","unit":"basic","units":[2,3],"width":16,"classes":3,"halting":"act",)"
      R"("epsilon":0.25,"tile":4,"halting_norm":false,"norm_epsilon":0.001,"input":{"size":32,)"
      R"("crop":1.0,"mean":[0.5,0.5,0.5],"std":[0.25,0.5,1.0],"resize":"lanczos"},)"
      R"("labels":["a","b","c"],"teacher":{"name":"big"}})";
  const ModelSpec spec = spec_from_json(text, "x");
  EXPECT_EQ(spec.unknown.at("teacher"), R"({"name":"big"})");
  EXPECT_EQ(spec.input.unknown.at("resize"), R"("lanczos")");
  EXPECT_EQ(io::Json::parse(to_json(spec)), io::Json::parse(text));
  EXPECT_EQ(to_json(spec_from_json(to_json(spec), "x")), to_json(spec));
}

TEST(Spec, StrideAndPoolingAreStoredWhereTheyAreNotTheUsual) {
  EXPECT_EQ(to_json(ModelSpec()).find("stride_on"), std::string::npos)
      << "older readers warn of it";
  ModelSpec spec;
  spec.unit = UnitKind::kBottleneckV1;
  spec.stride_on = StrideOn::k1x1;
  spec.stem_pool = StemPool::kSame;
  const ModelSpec read = spec_from_json(to_json(spec), "x");
  EXPECT_EQ(read.unit, UnitKind::kBottleneckV1);
  EXPECT_EQ(read.stride_on, StrideOn::k1x1);
  EXPECT_EQ(read.stem_pool, StemPool::kSame);
  EXPECT_TRUE(read.unknown.empty());
}

TEST(Spec, AFloorUnderScoresIsStoredWhereThereIsOne) {
  EXPECT_EQ(to_json(ModelSpec()).find("score_floor"), std::string::npos);
  ModelSpec spec;
  spec.score_floor = 0.05;
  EXPECT_EQ(spec_from_json(to_json(spec), "x").score_floor, 0.05);
  EXPECT_TRUE(spec_from_json(to_json(spec), "x").unknown.empty());
}

TEST(Spec, BadValuesAreNamed) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"[]", "object"},
      {"{", "JSON"},
      {R"({"stem":"large"})", "'stem'"},
      {R"({"stem":7})", "'stem'"},
      {R"({"unit":"wide"})", "'unit'"},
      {R"({"stride_on":"5x5"})", "3x3, 1x1"},
      {R"({"unit":"basic_v1","stride_on":"1x1"})", "basic_v1 units have 3x3 convolutions only"},
      {R"({"stem_pool":"full"})", "symmetric, same, ceil, valid"},
      {R"({"halting":"maybe"})", "none, act, sact"},
      {R"({"score_floor":1})", "'score_floor' must be at least 0 and below 1, found 1"},
      {R"({"score_floor":-0.1})", "'score_floor'"},
      {R"({"units":[]})", "units"},
      {R"({"units":[3,0]})", "units"},
      {R"({"units":[1,1,1,1,1,1,1]})", "blocks"},
      {R"({"units":[3,"4"]})", "units'[1]"},
      {R"({"units":101})", "array"},
      {R"({"units":[99999999999999999999]})", "whole number"},
      {R"({"units":[4294967297]})", "whole number"},
      {R"({"width":0})", "'width'"},
      {R"({"width":-64})", "'width'"},
      {R"({"width":64.5})", "'width'"},
      {R"({"classes":0})", "'classes'"},
      {R"({"classes":1e3})", "'classes'"},
      {R"({"epsilon":0})", "'epsilon'"},
      {R"({"epsilon":1})", "'epsilon'"},
      {R"({"epsilon":"small"})", "'epsilon'"},
      {R"({"tile":0})", "'tile'"},
      {R"({"halting_norm":1})", "true or false"},
      {R"({"norm_epsilon":-1})", "norm_epsilon"},
      {R"({"input":3})", "'input'"},
      {R"({"input":{"size":31}})", "input.size"},
      {R"({"input":{"crop":0}})", "input.crop"},
      {R"({"input":{"mean":[1,2]}})", "3 numbers"},
      {R"({"input":{"std":[1,0,1]}})", "input.std"},
      {R"({"classes":2,"labels":["a"]})", "1 label for 2 classes"},
      {R"({"labels":[1]})", "labels'[0]"},
  };
  for (const auto& [json, expected] : cases) {
    SCOPED_TRACE(json);
    const auto message = test::error_of([&] { spec_from_json(json, "m.safetensors"); });
    EXPECT_NE(message.find(expected), std::string::npos) << message;
    EXPECT_NE(message.find("m.safetensors"), std::string::npos) << message;
  }
}

TEST(Spec, ResolutionsRoundUpAtEveryStride) {
  ModelSpec spec;
  EXPECT_EQ(spec.stem_size({224, 224}), (Size{112, 112}));
  EXPECT_EQ(spec.block_size(0, {224, 224}), (Size{56, 56}));
  EXPECT_EQ(spec.block_size(3, {224, 224}), (Size{7, 7}));
  EXPECT_EQ(spec.block_size(0, {33, 47}), (Size{9, 12}));
  EXPECT_EQ(spec.block_size(3, {33, 47}), (Size{2, 2}));
  // 113 x 112 enter the pool.
  for (const auto& [pool, size] : {std::pair(StemPool::kSymmetric, Size{57, 56}),
                                   {StemPool::kSame, Size{57, 56}},
                                   {StemPool::kCeil, Size{56, 56}},
                                   {StemPool::kValid, Size{56, 55}}}) {
    SCOPED_TRACE(name_of(pool));
    spec.stem_pool = pool;
    EXPECT_EQ(spec.block_size(0, {226, 224}), size);
  }
  spec.stem = Stem::kSmall;
  EXPECT_EQ(spec.block_size(0, {33, 47}), (Size{33, 47}));
  EXPECT_EQ(spec.block_size(2, {33, 47}), (Size{9, 12}));
}

TEST(Spec, SizesAreParsedAsHeightByWidth) {
  EXPECT_EQ(parse_size("224"), (Size{224, 224}));
  EXPECT_EQ(parse_size("96x320"), (Size{96, 320}));
  for (const char* bad :
       {"", "x", "224x", "x224", "224x224x3", "31", "-64", "1e3", "99999999999"}) {
    SCOPED_TRACE(bad);
    test::error_of([&] { parse_size(bad); });
  }
}

TEST(Spec, UnknownDepthSaysWhatIsKnown) {
  EXPECT_EQ(units_of_depth(152), (std::vector<int>{3, 8, 36, 3}));
  EXPECT_NE(test::error_of([] { units_of_depth(18); }).find("50, 101 or 152"), std::string::npos);
}

}  // namespace
}  // namespace sact
