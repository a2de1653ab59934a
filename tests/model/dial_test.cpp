// The dial of a network: its JSON, the way from a budget to a shift, and what cannot be asked for.
#include "model/dial.h"

#include <gtest/gtest.h>

#include "model/halting_request.h"
#include "support/errors.h"

namespace sact {
namespace {

DialPoint point(double shift, double share) {
  return {shift, {share, 0.05}, {1.5, 2}, 0.9, {}, {}};
}

Dial example() {
  Dial dial;
  dial.size = {64, 80};
  dial.images = 12;
  dial.points = {point(-2, 1.0), point(0, 0.8), point(1, 0.4)};
  dial.points[1].accuracy = 0.75;
  dial.points[1].dense_agreement = 0.5;
  return dial;
}

TEST(Dial, JsonKeepsEverything) {
  const std::string text = io::dump_json(to_json(example()));
  const Dial read = dial_from_json(text, "x");
  EXPECT_EQ(read.size, (Size{64, 80}));
  EXPECT_EQ(read.images, 12);
  ASSERT_EQ(read.points.size(), 3u);
  EXPECT_EQ(read.points[1].accuracy, 0.75);
  EXPECT_FALSE(read.points[0].accuracy);
  EXPECT_EQ(io::dump_json(to_json(read)), text);
}

TEST(Dial, DamageIsNamed) {
  const auto expect_refused = [](const std::function<void(io::Json&)>& damage,
                                 const std::string& part) {
    io::Json json = to_json(example());
    damage(json);
    const std::string message =
        test::error_of([&] { dial_from_json(io::dump_json(json), "m: its dial"); });
    EXPECT_NE(message.find("m: its dial: "), std::string::npos) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect_refused([](io::Json& json) { json = io::Json::array(); }, "object");
  expect_refused([](io::Json& json) { json.erase("points"); }, "no 'points'");
  expect_refused([](io::Json& json) { json["points"] = io::Json::array(); }, "'points'");
  expect_refused([](io::Json& json) { json["images"] = "many"; }, "'images'");
  expect_refused([](io::Json& json) { json["height"] = -1; }, "'height'");
  expect_refused([](io::Json& json) { json["points"][0] = 7; }, "object");
  expect_refused([](io::Json& json) { json["points"][0]["shift"] = 1e9; }, "'shift'");
  expect_refused([](io::Json& json) { json["points"][0]["shift"] = 0; }, "must rise");
  expect_refused([](io::Json& json) { json["points"][2]["flops_share"]["mean"] = 0.9; },
                 "must not");
  expect_refused([](io::Json& json) { json["points"][1]["accuracy"] = 2; }, "'accuracy'");
  expect_refused([](io::Json& json) { json["points"][1]["units"] = 2; }, "'units'");
}

TEST(Dial, BetweenPointsTheShiftIsOnTheLine) {
  const Dial dial = example();
  EXPECT_DOUBLE_EQ(dial.shift_for(1.0), -2);
  EXPECT_DOUBLE_EQ(dial.shift_for(0.9), -1);
  EXPECT_DOUBLE_EQ(dial.shift_for(0.8), 0);
  EXPECT_DOUBLE_EQ(dial.shift_for(0.6), 0.5);
  EXPECT_DOUBLE_EQ(dial.shift_for(0.4), 1);
}

TEST(Dial, OfEqualSharesTheLeastShiftIsTaken) {
  Dial dial = example();
  dial.points = {point(-1, 0.9), point(0, 0.7), point(1, 0.7), point(2, 0.5)};
  EXPECT_DOUBLE_EQ(dial.shift_for(0.7), 0);
  EXPECT_DOUBLE_EQ(dial.shift_for(0.6), 1.5);
}

TEST(Dial, SharesThatRiseAreMadeMonotone) {
  std::vector<DialPoint> points = {point(0, 1.0), point(1, 0.5), point(2, 0.7), point(3, 0.2)};
  EXPECT_TRUE(make_monotone(points));
  EXPECT_DOUBLE_EQ(points[0].flops_share.mean, 1.0);
  EXPECT_DOUBLE_EQ(points[1].flops_share.mean, 0.6);
  EXPECT_DOUBLE_EQ(points[2].flops_share.mean, 0.6);
  EXPECT_DOUBLE_EQ(points[3].flops_share.mean, 0.2);
  EXPECT_FALSE(make_monotone(points));
}

std::string refusal(const HaltingRequest& request, Halting halting = Halting::kSact,
                    const std::optional<Dial>& dial = example()) {
  ModelSpec spec;
  spec.halting = halting;
  return test::error_of([&] { halting_control(request, spec, dial, "m"); });
}

TEST(HaltingRequest, ABudgetGivesTheShiftOfTheCurve) {
  ModelSpec spec;
  spec.halting = Halting::kSact;
  const HaltingControl control =
      halting_control({.budget = 0.6, .hard_budget = 0.8}, spec, example(), "m");
  EXPECT_DOUBLE_EQ(control.shift, 0.5);
  EXPECT_EQ(control.hard_budget, 0.8);
  EXPECT_EQ(halting_control({.shift = -3}, spec, {}, "m").shift, -3);
}

TEST(HaltingRequest, WhatCannotBeDoneIsSaidInALine) {
  EXPECT_NO_THROW(halting_control({}, ModelSpec(), {}, "m")) << "nothing was asked for";
  EXPECT_EQ(refusal({.shift = 1}, Halting::kNone),
            "halting shift: m is a plain network, which never halts");
  EXPECT_EQ(refusal({.hard_budget = 0.5}, Halting::kNone),
            "hard budget: m is a plain network, which never halts");
  EXPECT_EQ(refusal({.budget = 0.6}, Halting::kSact, std::nullopt),
            "budget 0.6: m has no curve that says which shift gives it; 'sact calibrate m --images "
            "DIR --out FILE' writes a file that has");
  for (const double outside : {0.3, 1.1}) {
    EXPECT_NE(refusal({.budget = outside})
                  .find("the curve of m goes from 0.400 to 1.000 of the dense network's FLOPs"),
              std::string::npos);
  }
  EXPECT_NE(refusal({.shift = 1, .budget = 0.6}).find("not both"), std::string::npos);
  EXPECT_NE(refusal({.budget = -1}).find("share"), std::string::npos);
  EXPECT_NE(refusal({.hard_budget = std::nan("")}).find("share"), std::string::npos);
  EXPECT_NE(refusal({.shift = 1e6}).find("from -100000 to 100000"), std::string::npos);
}

}  // namespace
}  // namespace sact
