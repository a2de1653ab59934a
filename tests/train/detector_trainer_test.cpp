// Training runs of detectors: stopping, resuming to the last bit, starting from classifiers, and
// mistakes.
#include "train/detect/task.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "base/log.h"
#include "detect/coco.h"
#include "io/image.h"
#include "model/architecture.h"
#include "model/initial_weights.h"
#include "report/csv.h"
#include "report/pictures.h"
#include "support/errors.h"
#include "support/temporary.h"
#include "train/loop/trainer.h"

namespace sact::train {
namespace {

class DetectorTraining : public ::testing::Test {
 protected:
  void SetUp() override { set_log_level(LogLevel::kWarning); }
  void TearDown() override { set_log_level(LogLevel::kInfo); }

  TrainRequest request(const std::string& run, const std::vector<std::string>& changes = {}) {
    TrainRequest request;
    request.assignments = {"data=synthetic:size=64,count=6,val=3",
                           "train=train",
                           "val=val",
                           "units=1,2,1",
                           "stem=small",
                           "unit=basic",
                           "width=4",
                           "halting=sact",
                           "shorter_side=64",
                           "anchor_sizes=16,32",
                           "anchor_ratios=1",
                           "proposal_channels=8",
                           "proposals=10",
                           "epochs=2",
                           "batch=2",
                           "rate=0.0003",
                           "box_batch=8",
                           "anchor_batch=16",
                           "samples=1",
                           "workers=2"};
    request.assignments.insert(request.assignments.end(), changes.begin(), changes.end());
    request.run = (directory_ / run).string();
    request.threads = 1;
    return request;
  }

  TrainOutcome train_detector(const TrainRequest& request) {
    DetectorTask task;
    return run_training(task, request);
  }

  std::string bytes_of(const std::string& file) {
    std::ifstream stream(directory_ / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }

  test::TemporaryDirectory directory_;
};

TEST_F(DetectorTraining, RunFolderHasEverything) {
  const TrainOutcome result = train_detector(request("a"));
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.epochs, 2);
  EXPECT_EQ(result.steps, 6);
  EXPECT_GE(result.score, 0);
  EXPECT_GT(result.flops, 0);
  for (const char* file : {"settings.json", "log.csv", "curves.svg", "summary.html", "events",
                           "best.safetensors", "last.safetensors", "checkpoint.safetensors"}) {
    EXPECT_TRUE(std::filesystem::exists(directory_ / ("a/" + std::string(file)))) << file;
  }
  EXPECT_EQ(std::filesystem::exists(directory_ / "a/samples/epoch-0002.png"),
            report::can_draw_pictures());
  const report::CsvColumns log = report::read_csv(directory_ / "a/log.csv");
  ASSERT_EQ(log.rows(), 2u);
  for (const char* column : {"loss", "loss_class", "AP", "flops", "units_2"}) {
    ASSERT_TRUE(log.find(column)) << column;
    EXPECT_TRUE(std::isfinite(log.find(column)->back())) << column;
  }
  const ModelFile model(directory_ / "a/last.safetensors");
  ASSERT_TRUE(model.spec().detection);
  EXPECT_EQ(model.spec().detection->anchors(), 2);
  EXPECT_EQ(model.spec().classes, 10);
  const std::string page = bytes_of("a/summary.html");
  for (const char* part : {"Best and last epoch", "AP over FLOPs"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
  for (const char* sample : {"Epoch 1: ", "Epoch 2: "}) {
    EXPECT_EQ(page.find(sample) != std::string::npos, report::can_draw_pictures()) << sample;
  }
  const auto events = std::filesystem::directory_iterator(directory_ / "a/events")->path();
  const std::string recorded = bytes_of("a/events/" + events.filename().string());
  EXPECT_NE(recorded.find("step/proposal_score"), std::string::npos);
  const TrainOutcome again = train_detector(request("a"));
  EXPECT_TRUE(again.finished_before);
  EXPECT_EQ(again.steps, 6);
  EXPECT_EQ(again.score, result.score);
  EXPECT_EQ(again.flops, result.flops);
  EXPECT_EQ(bytes_of("a/summary.html"), page);
}

TEST_F(DetectorTraining, MoreEpochsGoOnWithTheSettingsOfTheFolder) {
  train_detector(request("a", {"epochs=1"}));
  TrainRequest more;
  more.run = (directory_ / "a").string();
  more.threads = 1;
  more.assignments = {"epochs=2"};
  const TrainOutcome result = train_detector(more);
  EXPECT_EQ(result.epochs, 2);
  EXPECT_EQ(result.steps, 6);
  const report::CsvColumns log = report::read_csv(directory_ / "a/log.csv");
  ASSERT_EQ(log.rows(), 2u);
  // The schedule is that of two epochs: the last of their steps is after both drops.
  EXPECT_NEAR(log.find("rate")->back(), 3e-4 * 0.1 * 0.1, 1e-12);
}

TEST_F(DetectorTraining, InterruptedAtAnyStepResumesToTheSameBits) {
  train_detector(request("whole"));
  const std::string expected = bytes_of("whole/last.safetensors");
  for (int stop : {1, 3, 4, 5}) {
    SCOPED_TRACE(stop);
    const std::string run = "stopped" + std::to_string(stop);
    TrainRequest first = request(run);
    int steps = 0;
    first.interrupted = [&] { return ++steps >= stop; };
    EXPECT_FALSE(train_detector(first).finished);
    const TrainOutcome resumed = train_detector(request(run));
    EXPECT_TRUE(resumed.finished);
    EXPECT_EQ(resumed.steps, 6);
    EXPECT_EQ(bytes_of(run + "/last.safetensors"), expected);
    const auto a = report::read_csv(directory_ / "whole/log.csv");
    const auto b = report::read_csv(directory_ / (run + "/log.csv"));
    ASSERT_EQ(b.rows(), 2u) << "no epoch is logged twice";
    for (size_t row = 0; row < 2; ++row) {
      EXPECT_NEAR((*a.find("loss"))[row], (*b.find("loss"))[row], 1e-9);
    }
  }
}

TEST_F(DetectorTraining, BudgetsSteerTauAndResumeToTheSameBits) {
  // What is wanted falls from all to half over the first half of six steps, and nothing halts yet.
  const std::vector<std::string> budgets = {"tau=0.01",        "budget=0.5",   "head_tau=0.02",
                                            "head_budget=0.5", "steering=0.5", "budget_ramp=0.5"};
  train_detector(request("whole", budgets));
  const auto log = report::read_csv(directory_ / "whole/log.csv");
  for (const char* column : {"tau", "head_tau", "share", "head_share", "val_head_share"}) {
    ASSERT_TRUE(log.find(column)) << column;
  }
  EXPECT_GT(log.find("share")->back(), 0.9);
  EXPECT_GT(log.find("tau")->front(), 0.01);
  EXPECT_GT(log.find("tau")->back(), 2 * log.find("tau")->front());
  EXPECT_GT(log.find("head_tau")->back(), 2 * log.find("head_tau")->front());
  TrainRequest first = request("stopped", budgets);
  int steps = 0;
  first.interrupted = [&] { return ++steps >= 3; };
  EXPECT_FALSE(train_detector(first).finished);
  train_detector(request("stopped", budgets));
  EXPECT_EQ(bytes_of("stopped/last.safetensors"), bytes_of("whole/last.safetensors"));
}

TEST_F(DetectorTraining, NormStatisticsStayAsTheyWere) {
  DetectionSettings settings;
  for (const std::string& text : request("x").assignments) set_from_text(settings, text);
  ModelSpec spec = spec_of_run(settings, std::vector<std::string>(10, "class"));
  spec.detection.reset();
  const auto weights = initial_weights(spec);
  write_model(directory_ / "init.safetensors", spec, weights);
  const std::string init = (directory_ / "init.safetensors").string();
  train_detector(request("a", {"init=" + init, "epochs=1"}));
  const ModelFile before(init), after(directory_ / "a/last.safetensors");
  int statistics = 0, moved = 0;
  for (const WeightInfo& weight : weight_list(spec)) {
    if (weight.name.starts_with("head.")) continue;
    const bool same = before.values(weight) == after.values(weight);
    if (weight.role == WeightRole::kNormMean || weight.role == WeightRole::kNormVariance) {
      EXPECT_TRUE(same) << weight.name;
      ++statistics;
    } else {
      moved += !same;
    }
  }
  EXPECT_GT(statistics, 10);
  EXPECT_GT(moved, 10);
}

/// Names of the weights that a run has moved, of those that the model it began with has too.
std::set<std::string> moved_weights(const ModelFile& before, const ModelFile& after) {
  std::set<std::string> moved;
  for (const WeightInfo& weight : weight_list(before.spec())) {
    if (weight.name.starts_with("head.") || weight.name.starts_with("fc.")) continue;
    if (before.values(weight) != after.values(weight)) moved.insert(weight.name);
  }
  return moved;
}

class DetectorFromClassifier : public DetectorTraining {
 protected:
  /// A classifier of post-activation units, as published ones are.
  ModelSpec write_classifier(const std::string& name, Halting halting, double steepness = 1) {
    ModelSpec spec;
    spec.stem = Stem::kImageNet;
    spec.unit = UnitKind::kBottleneckV1;
    spec.units = {2, 2, 2};
    spec.width = 4;
    spec.classes = 7;
    spec.halting = halting;
    spec.score_floor = halting == Halting::kNone ? 0 : 0.05;
    auto weights = initial_weights(spec, {.halting_bias = -1});
    for (Weight& weight : weights) {
      const bool scales = weight.info.role == WeightRole::kHaltingBias ||
                          weight.info.role == WeightRole::kHaltingWeight;
      for (float& value : weight.values) {
        if (scales) value *= float(steepness) * 3;
      }
    }
    write_model(directory_ / name, spec, weights);
    return spec;
  }

  TrainRequest from(const std::string& run, const std::string& init,
                    std::vector<std::string> changes = {}) {
    changes.insert(changes.begin(), {"init=" + (directory_ / init).string(), "epochs=1",
                                     "units=", "halting=auto", "rate=0.01", "samples=0"});
    return request(run, changes);
  }
};

TEST_F(DetectorFromClassifier, StemFirstBlockAndNormsStayAsTheyAreUnlessAskedFor) {
  write_classifier("init", Halting::kSact);
  const ModelFile before(directory_ / "init");
  const auto moved_with = [&](const std::string& run, std::vector<std::string> changes) {
    train_detector(from(run, "init", std::move(changes)));
    return moved_weights(before, ModelFile(directory_ / (run + "/last.safetensors")));
  };
  const auto usual = moved_with("usual", {});
  EXPECT_TRUE(usual.count("layer2.0.conv2.weight"));
  EXPECT_TRUE(usual.count("layer1.0.halting.global.bias")) << "scores learn wherever they are";
  for (const std::string& name : usual) {
    EXPECT_FALSE(name.starts_with("conv1.") || name.starts_with("layer1.0.conv")) << name;
    const bool norm = name.find(".bn") != std::string::npos || name.starts_with("bn1.");
    EXPECT_FALSE(norm) << name;
  }
  const auto all = moved_with("all", {"freeze=0", "norms=train"});
  for (const char* name : {"conv1.weight", "bn1.weight", "layer1.0.conv1.weight",
                           "layer2.1.bn2.bias", "layer3.0.conv2.weight"}) {
    EXPECT_TRUE(all.count(name)) << name;
  }
  const auto stem = moved_with("stem", {"freeze=1"});
  EXPECT_FALSE(stem.count("conv1.weight"));
  EXPECT_TRUE(stem.count("layer1.0.conv1.weight"));
  const ModelSpec spec = ModelFile(directory_ / "usual/last.safetensors").spec();
  EXPECT_EQ(spec.score_floor, 0.05) << "the rule of the network it starts from";
  EXPECT_EQ(spec.unit, UnitKind::kBottleneckV1);
}

TEST_F(DetectorFromClassifier, SteepScoresAreTrainedAsWhatTheyAre) {
  write_classifier("steep", Halting::kSact, 1000);
  const std::string steep = (directory_ / "steep").string();
  EXPECT_EQ(test::error_of([&] { train_detector(from("a", "steep")); }),
            steep +
                ": its halting scores are steep (their biases are about -3000), and the soft rule "
                "would teach them nothing; give scores=hard steepness=1000, or halting=none");
  train_detector(from("a", "steep", {"scores=hard", "tau=5"}));
  const ModelFile before(directory_ / "steep"), after(directory_ / "a/last.safetensors");
  for (const WeightInfo& weight : weight_list(before.spec())) {
    if (weight.name != "layer2.0.halting.global.bias") continue;
    const double from = before.values(weight)[0], to = after.values(weight)[0];
    EXPECT_GT(to, from) << "tau pulls towards halting";
    EXPECT_LT(std::abs(to - from), 3000) << "by steps of the size of the scores";
  }
  const auto moved = moved_weights(before, after);
  EXPECT_FALSE(moved.count("layer2.0.halting.local_norm.weight"));
  write_classifier("soft", Halting::kSact);
  EXPECT_NE(test::error_of([&] {
              train_detector(from("b", "soft", {"scores=hard"}));
            }).find("its halting scores are not steep"),
            std::string::npos);
  train_detector(from("plain", "steep", {"halting=none"}));
  EXPECT_FALSE(ModelFile(directory_ / "plain/last.safetensors").spec().adaptive());
}

TEST_F(DetectorFromClassifier, NormsOfNewScoresAreMeasured) {
  write_classifier("dense", Halting::kNone);
  train_detector(from("a", "dense", {"halting=sact", "score_floor=0.05", "halting_scale=0"}));
  const ModelFile after(directory_ / "a/last.safetensors");
  EXPECT_EQ(after.spec().score_floor, 0.05);
  const auto fresh = initial_weights(after.spec(), {.halting_scale = 0});
  int measured = 0, norms = 0;
  for (const Weight& weight : fresh) {
    const bool mean = weight.info.role == WeightRole::kNormMean;
    if (!mean || !is_of_halting(weight.info.name)) continue;
    ++norms;
    measured += after.values(weight.info) != weight.values;
  }
  EXPECT_EQ(norms, 2 * 3);
  EXPECT_EQ(measured, norms);
}

TEST_F(DetectorTraining, AnchorsSuitTheSizeUnlessGiven) {
  DetectionSettings settings;
  for (const std::string& text : request("x").assignments) set_from_text(settings, text);
  settings.anchor_sizes.clear();
  settings.shorter_side = 320;
  EXPECT_EQ(spec_of_run(settings, {"thing"}).detection->anchor_sizes,
            (std::vector<double>{16, 32, 64, 128, 256}));
}

TEST_F(DetectorTraining, KeepingDecodedImagesChangesNothing) {
  train_detector(request("kept", {"cache=memory", "train_sides=64,48"}));
  train_detector(request("read", {"cache=none", "train_sides=64,48"}));
  EXPECT_EQ(bytes_of("kept/last.safetensors"), bytes_of("read/last.safetensors"));
  train_detector(request("one", {"cache=none"}));
  EXPECT_NE(bytes_of("one/last.safetensors"), bytes_of("read/last.safetensors"));
}

TEST_F(DetectorTraining, CrowdsAndEmptyImagesAreTrainedOn) {
  detect::CocoInstances instances{"", {{1, "thing"}}, {}, {}};
  std::filesystem::create_directories(directory_ / "coco/annotations");
  std::filesystem::create_directories(directory_ / "coco/all");
  for (int64_t id = 1; id <= 3; ++id) {
    const std::string name = fmt::format("{}.png", id);
    instances.images.push_back({id, name, {64, 64}});
    io::write_image(directory_ / ("coco/all/" + name), io::RgbImage(64, 64));
  }
  // One is filled by a crowd, the others show nothing.
  instances.objects = {{1, 1, 1, {0, 0, 64, 64}, 4096, true}};
  detect::write_coco_instances(directory_ / "coco/annotations/instances_all.json", instances);
  const std::string data = "data=" + (directory_ / "coco").string();
  const TrainOutcome result =
      train_detector(request("a", {data, "train=all", "val=all", "batch=1", "samples=9"}));
  EXPECT_TRUE(result.finished);
  EXPECT_TRUE(std::isnan(result.score));
  EXPECT_TRUE(std::filesystem::exists(directory_ / "a/best.safetensors"));
  const report::CsvColumns log = report::read_csv(directory_ / "a/log.csv");
  EXPECT_TRUE(std::isfinite(log.find("loss")->back()));
  EXPECT_TRUE(std::isnan(log.find("AP")->back()));
  EXPECT_EQ(bytes_of("a/summary.html").find("-100"), std::string::npos);
}

TEST_F(DetectorTraining, MistakesAreOneLine) {
  auto message = [&](std::vector<std::string> changes) {
    return test::error_of([&] { train_detector(request("m", std::move(changes))); });
  };
  EXPECT_EQ(
      message({"data=" + (directory_ / "none").string()}),
      (directory_ / "none").string() +
          ": there is no such folder; one with annotations/instances_train.json is needed here, "
          "or with the layout of Pascal VOC, or 'synthetic' for the built-in data set");
  EXPECT_EQ(message({"train=other"}),
            "synthetic:size=64,count=6,val=3: has the splits train and val, but no 'other'");
  EXPECT_EQ(message({"batch=9"}),
            "setting 'batch': 6 images do not fill one batch of 9; give batch=6 or less");
  EXPECT_EQ(message({"precision=bf16"}), "setting 'precision': bf16 needs the device 'cuda'");
  EXPECT_EQ(message({"box_batch=3"}), "setting 'box_batch' must be between 4 and 10000, found 3");
  EXPECT_EQ(message({"drops=0.5,2"}), "setting 'drops' must be between 0 and 1, found 2");
  EXPECT_EQ(message({"anchor_sizes=-1"}).find("the detector of this run: 'detection': "), 0u)
      << message({"anchor_sizes=-1"});
  EXPECT_EQ(message({"train_sides=64,8"}),
            "setting 'train_sides' must be between 32 and 32768, found 8");
  EXPECT_EQ(message({"scores=hard"}),
            "setting 'scores': hard needs a network to start from; give init, or scores=soft");
  DetectionSettings settings;
  EXPECT_EQ(test::error_of([&] { set_from_text(settings, "size=3"); }),
            "there is no setting 'size'; 'sact train-detector --settings' lists them");
  train_detector(request("a", {"epochs=1"}));
  EXPECT_NE(test::error_of([&] {
              train_detector(request("a", {"epochs=1", "rate=1"}));
            }).find("rate: 0.0003 -> 1.0"),
            std::string::npos);
}

}  // namespace
}  // namespace sact::train
