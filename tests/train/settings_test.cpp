// Settings of training: text, JSON, differences.
#include "train/classify/settings.h"

#include <gtest/gtest.h>

#include "io/json.h"
#include "support/errors.h"

namespace sact::train {
namespace {

TEST(Settings, DefaultsAreThoseOfThePaper) {
  const TrainSettings settings;
  EXPECT_DOUBLE_EQ(settings.rate, 0.05);
  EXPECT_EQ(settings.batch, 32);
  EXPECT_DOUBLE_EQ(settings.momentum, 0.9);
  EXPECT_DOUBLE_EQ(settings.weight_decay, 1e-4);
  EXPECT_EQ(settings.schedule, "step");
  EXPECT_EQ(settings.step_epochs, 30);
  EXPECT_DOUBLE_EQ(settings.halting_bias, -3);
}

TEST(Settings, JsonRoundTripKeepsEveryKey) {
  TrainSettings settings;
  settings.data = "a \"folder\"";
  settings.units = {1, 2, 3};
  settings.rate = 0.123456789;
  settings.decay_norms = false;
  settings.seed = int64_t(1) << 40;
  const std::string json = to_json(settings);
  TrainSettings read;
  set_from_json(read, json, "x");
  EXPECT_EQ(to_json(read), json);
}

TEST(Settings, TextSetsEveryType) {
  TrainSettings settings;
  set_from_text(settings, "data=some/folder with=signs");
  set_from_text(settings, "epochs=40");
  set_from_text(settings, "rate=1e-3");
  set_from_text(settings, "units=2,2,2,2");
  set_from_text(settings, "decay_norms=false");
  EXPECT_EQ(settings.data, "some/folder with=signs");
  EXPECT_EQ(settings.epochs, 40);
  EXPECT_DOUBLE_EQ(settings.rate, 1e-3);
  EXPECT_EQ(settings.units, (std::vector<int>{2, 2, 2, 2}));
  EXPECT_FALSE(settings.decay_norms);
}

TEST(Settings, MistakesNameTheKey) {
  for (const char* bad : {"epochs", "epochs=many", "epochs=1.5", "epochs=99999999999", "epoch=3",
                          "units=1,x", "decay_norms=1", "rate="}) {
    SCOPED_TRACE(bad);
    TrainSettings settings;
    const auto message = test::error_of([&] { set_from_text(settings, bad); });
    const std::string key = std::string(bad).substr(0, std::string(bad).find('='));
    EXPECT_NE(message.find(key), std::string::npos) << message;
  }
  TrainSettings settings;
  EXPECT_NE(
      test::error_of([&] { set_from_json(settings, R"({"epoks":3})", "c.json"); }).find("epoks"),
      std::string::npos);
}

TEST(Settings, AbsurdValuesAreRefused) {
  for (const char* bad :
       {"epochs=0", "batch=0", "rate=-1", "momentum=1", "label_smoothing=1", "size=16",
        "schedule=linear", "halting=maybe", "precision=fp16", "crop_min_area=0", "val_split=1",
        "tau=-1", "tau_warmup_epochs=1000", "halting_rate=-1", "warmup_epochs=1000", "cache=disk",
        "halting_reach=0.5", "halting_gradient_floor=0.3"}) {
    SCOPED_TRACE(bad);
    TrainSettings settings;
    settings.data = "x";
    set_from_text(settings, bad);
    const auto message = test::error_of([&] { validate(settings); });
    const std::string key = std::string(bad).substr(0, std::string(bad).find('='));
    EXPECT_NE(message.find("'" + key + "'"), std::string::npos) << message;
  }
  EXPECT_NE(test::error_of([] { validate(TrainSettings{}); }).find("data"), std::string::npos);
}

TEST(Settings, DifferencesListWhatDefinesTheRunAndNotHowItIsRun) {
  TrainSettings a, b;
  b.epochs = 7;
  b.workers = 3;
  EXPECT_EQ(differences(a, b), (std::vector<std::string>{"epochs: 90 -> 7"}));
}

TEST(Settings, EpochsMayBeRaised) {
  TrainSettings a, b;
  b.epochs = 91;
  EXPECT_TRUE(differences(a, b).empty());
  EXPECT_EQ(differences(a, b, /*all=*/true), (std::vector<std::string>{"epochs: 90 -> 91"}));
}

TEST(Settings, AMistypedKeyIsGuessed) {
  TrainSettings settings;
  EXPECT_EQ(test::error_of([&] { set_from_text(settings, "ephocs=3"); }),
            "there is no setting 'ephocs' (did you mean 'epochs'?); 'sact train --settings' lists "
            "them");
  EXPECT_EQ(test::error_of([&] { set_from_json(settings, R"({"momentun": 1})", "c.json"); }),
            "c.json: there is no setting 'momentun' (did you mean 'momentum'?); 'sact train "
            "--settings' lists them");
}

TEST(Settings, HelpListsEveryKey) {
  const std::string help = settings_help<TrainSettings>();
  const io::Json defaults = io::Json::parse(to_json(TrainSettings{}));
  for (const auto& [key, value] : defaults.items()) {
    EXPECT_NE(help.find("  " + key + "="), std::string::npos) << key;
  }
}

}  // namespace
}  // namespace sact::train
