// Results of evaluations as JSON: written, read back, and damaged.
#include "model/eval_result.h"

#include <gtest/gtest.h>

#include "model/flops.h"
#include "support/errors.h"
#include "support/temporary.h"

namespace sact {
namespace {

using io::Json;

EvalResult example() {
  EvalResult result;
  result.model = "m.safetensors";
  result.spec.emplace();
  result.spec->units = {2, 3};
  result.spec->halting = Halting::kSact;
  result.spec->input.size = 64;
  result.sizes = {{{96, 128}, 200, 0.25, 0.75, 2.0, 0.5, {3e6, 2e5}, {{1.5, 0.5}, {2.25, 0}}, {}},
                  {{64, 64}, 100, 0.5, 1, 4.0, 1.0, {1e6, 1e5}, {{1.25, 0.25}, {3, 0.5}}, {}}};
  return result;
}

EvalResult read(const Json& json) {
  return eval_result_from_json(json.dump(), "r.json");
}

TEST(EvalResult, ReadsWhatItWrote) {
  const EvalResult result = read(to_json(example()));
  EXPECT_EQ(result.model, "m.safetensors");
  ASSERT_TRUE(result.spec);
  EXPECT_EQ(to_json(*result.spec), to_json(*example().spec));
  ASSERT_EQ(result.sizes.size(), 2u);
  const EvalOutcome& first = result.sizes[0];
  EXPECT_EQ(first.size, (Size{96, 128}));
  EXPECT_EQ(first.images, 200);
  EXPECT_EQ(first.accuracy, 0.25);
  EXPECT_EQ(first.recall5, 0.75);
  EXPECT_EQ(first.flops.mean, 3e6);
  EXPECT_EQ(first.flops.std, 2e5);
  ASSERT_EQ(first.units.size(), 2u);
  EXPECT_EQ(first.units[1].mean, 2.25);
  EXPECT_EQ(first.units[0].std, 0.5);
}

TEST(EvalResult, JsonHasTheKeysThatScriptsUse) {
  const Json json = to_json(example());
  for (const Json& object : {json, json["sizes"][0]}) {
    EXPECT_EQ(object["accuracy"], 0.25);
    EXPECT_EQ(object["recall5"], 0.75);
    EXPECT_EQ(object["images"], 200);
    EXPECT_EQ(object["flops"]["std"], 2e5);
    EXPECT_EQ(object["dense_flops"], dense_flops(*example().spec, {96, 128}));
    EXPECT_EQ(object["units"][0]["mean"], 1.5);
    EXPECT_EQ(object["images_per_second"], 100);
    EXPECT_EQ(object["network_images_per_second"], 400);
  }
  EXPECT_EQ(json["model"], "m.safetensors");
  EXPECT_EQ(json["spec"]["halting"], "sact");
}

TEST(EvalResult, OneSizeWithoutSpecWrittenByHandIsEnough) {
  const EvalResult result = eval_result_from_json(
      R"({"height":224,"width":224,"accuracy":0.7561,"recall5":0.9275,"images":50000,
          "flops":{"mean":1.11e10,"std":4.57e8},"units":[{"mean":2.3,"std":0.4}]})",
      "paper.json");
  EXPECT_FALSE(result.spec);
  EXPECT_EQ(choose_outcome(result, std::nullopt, "paper.json").accuracy, 0.7561);
}

TEST(EvalResult, ChoosesTheNamedSizeOrTheModelsOwn) {
  EvalResult result = example();
  EXPECT_EQ(choose_outcome(result, Size{96, 128}, "r").images, 200);
  EXPECT_EQ(choose_outcome(result, std::nullopt, "r").images, 100) << "its spec says 64";
  const auto missing = test::error_of([&] { choose_outcome(result, Size{32, 32}, "r"); });
  EXPECT_NE(missing.find("96x128, 64x64"), std::string::npos) << missing;
  result.spec->input.size = 224;
  const auto unclear = test::error_of([&] { choose_outcome(result, std::nullopt, "r"); });
  EXPECT_NE(unclear.find("--size"), std::string::npos) << unclear;
}

TEST(EvalResult, EveryMissingKeyIsNamed) {
  for (const char* key : {"height", "width", "accuracy", "recall5", "images", "flops", "units"}) {
    Json json = to_json(example());
    json["sizes"][1].erase(key);
    const auto message = test::error_of([&] { read(json); });
    EXPECT_NE(message.find("r.json: 'sizes'[1]"), std::string::npos) << message;
    EXPECT_NE(message.find(key), std::string::npos) << message;
  }
  Json json = to_json(example());
  json["sizes"][0]["units"][1].erase("std");
  const auto message = test::error_of([&] { read(json); });
  EXPECT_NE(message.find("'units'[1]: has no 'std'"), std::string::npos) << message;
}

TEST(EvalResult, ValuesThatMakeNoSenseAreRefused) {
  const auto with = [](const char* key, const Json& value) {
    Json json = to_json(example());
    json["sizes"][0][key] = value;
    const auto message = test::error_of([&] { read(json); });
    EXPECT_NE(message.find(key), std::string::npos) << message;
  };
  with("accuracy", 75.6);
  with("accuracy", nullptr);
  with("recall5", "0.9");
  with("height", 64.5);
  with("width", 1e300);
  with("images", 0);
  with("flops", 5);
  with("units", Json::array());
  with("units", {{{"mean", 1}, {"std", 0}}});  // one block, not two
}

TEST(EvalResult, DamagedFilesAreOneLine) {
  const std::string text = to_json(example()).dump();
  for (size_t length = 0; length < text.size(); ++length) {
    test::error_of([&] { eval_result_from_json(text.substr(0, length), "r.json"); });
  }
  test::error_of([] { eval_result_from_json("[]", "r.json"); });
  test::error_of([] { eval_result_from_json(R"({"sizes":[]})", "r.json"); });
  test::error_of([] { eval_result_from_json(R"({"sizes":[3]})", "r.json"); });
  test::error_of([] { eval_result_from_json(R"({"spec":7,"sizes":[]})", "r.json"); });
  test::TemporaryDirectory directory;
  test::error_of([&] { read_eval_result(directory / "none.json"); });
}

}  // namespace
}  // namespace sact
