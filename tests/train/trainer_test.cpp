// Training runs: learning, stopping, resuming to the last bit, and mistakes.
#include "train/trainer.h"
#include "train/start_weights.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/log.h"
#include "io/json.h"
#include "report/csv.h"
#include "support/errors.h"
#include "support/temporary.h"
#include "train/network_weights.h"
#include "train/start_weights.h"

namespace sact::train {
namespace {

class Training : public ::testing::Test {
 protected:
  void SetUp() override { set_log_level(LogLevel::kWarning); }
  void TearDown() override { set_log_level(LogLevel::kInfo); }

  TrainOptions options(const std::string& run, std::vector<std::string> changes = {}) {
    TrainOptions options;
    for (const char* setting :
         {"data=synthetic:size=36,count=60,val=20", "units=2,2", "stem=small", "unit=basic",
          "width=4", "size=32", "halting=sact", "epochs=2", "batch=10", "samples=2", "workers=2"}) {
      set_from_text(options.settings, setting);
    }
    for (const std::string& change : changes) set_from_text(options.settings, change);
    options.run = directory_ / run;
    options.threads = 1;
    return options;
  }

  std::string bytes_of(const std::string& file) {
    std::ifstream stream(directory_ / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }

  test::TemporaryDirectory directory_;
};

TEST_F(Training, RunFolderHasEverything) {
  const TrainResult result = train(options("a"));
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.epochs, 2);
  EXPECT_EQ(result.steps, 12);
  EXPECT_EQ(result.last.images, 20);
  for (const char* file :
       {"settings.json", "log.csv", "curves.svg", "summary.html", "events", "best.safetensors",
        "last.safetensors", "checkpoint.safetensors", "samples/epoch-0002.png"}) {
    EXPECT_TRUE(std::filesystem::exists(directory_ / ("a/" + std::string(file)))) << file;
  }
  const report::CsvColumns log = report::read_csv(directory_ / "a/log.csv");
  EXPECT_EQ(log.rows(), 2u);
  const ModelFile model(directory_ / "a/last.safetensors");
  EXPECT_EQ(model.spec().classes, 10);
  EXPECT_EQ(model.spec().labels.size(), 10u);
  EXPECT_EQ(model.spec().halting, Halting::kSact);
}

TEST_F(Training, SameSeedGivesTheSameRunAndAnotherSeedDoesNot) {
  train(options("a"));
  train(options("b"));
  train(options("c", {"seed=1"}));
  EXPECT_EQ(bytes_of("a/last.safetensors"), bytes_of("b/last.safetensors"));
  EXPECT_NE(bytes_of("a/last.safetensors"), bytes_of("c/last.safetensors"));
}

TEST_F(Training, InterruptedAtAnyStepResumesToTheSameBits) {
  train(options("whole"));
  const std::string expected = bytes_of("whole/last.safetensors");
  for (int stop : {1, 4, 6, 7, 11}) {
    SCOPED_TRACE(stop);
    const std::string run = "stopped" + std::to_string(stop);
    TrainOptions first = options(run);
    // Without a cache it is asked once at every step and nowhere else.
    first.settings.cache = "none";
    int steps = 0;
    first.interrupted = [&] { return ++steps >= stop; };
    EXPECT_FALSE(train(first).finished);
    const TrainResult resumed = train(options(run));
    EXPECT_TRUE(resumed.finished);
    EXPECT_EQ(resumed.steps, 12);
    EXPECT_EQ(bytes_of(run + "/last.safetensors"), expected);
    const auto a = report::read_csv(directory_ / "whole/log.csv");
    const auto b = report::read_csv(directory_ / (run + "/log.csv"));
    ASSERT_EQ(b.rows(), 2u) << "no epoch is logged twice";
    EXPECT_EQ(*a.find("train_loss"), *b.find("train_loss"));
  }
}

TEST_F(Training, FinishedRunIsNotTrainedFurther) {
  train(options("a"));
  const std::string before = bytes_of("a/last.safetensors");
  const TrainResult again = train(options("a"));
  EXPECT_TRUE(again.finished);
  EXPECT_EQ(again.steps, 12);
  EXPECT_EQ(bytes_of("a/last.safetensors"), before);
}

TEST_F(Training, ChangedSettingsAreRefusedWithAList) {
  train(options("a"));
  const auto message = test::error_of([&] {
    train(options("a", {"rate=0.2", "epochs=3", "workers=1"}));
  });
  EXPECT_NE(message.find("rate: 0.05 -> 0.2"), std::string::npos) << message;
  EXPECT_NE(message.find("epochs: 2 -> 3"), std::string::npos) << message;
  EXPECT_EQ(message.find("workers"), std::string::npos) << message;
}

TEST_F(Training, DamagedCheckpointIsOneClearError) {
  train(options("a"));
  const std::string bytes = bytes_of("a/checkpoint.safetensors");
  std::ofstream(directory_ / "a/checkpoint.safetensors", std::ios::binary)
      << bytes.substr(0, bytes.size() / 2);
  EXPECT_NE(test::error_of([&] { train(options("a")); }).find("checkpoint.safetensors"),
            std::string::npos);
}

TEST_F(Training, TwoStagesStartFromThePlainNetwork) {
  train(options("plain", {"halting=none", "epochs=1"}));
  const std::string init = (directory_ / "plain/last.safetensors").string();
  const ModelFile file(init);
  Network network(spec_of_run(options("x", {"init=" + init}).settings, file.spec().labels));
  start_from(named_tensors(*network), network->spec(), file);
  auto tensors = named_tensors(*network);
  int compared = 0;
  for (const WeightInfo& weight : weight_list(file.spec())) {
    const auto values = file.values(weight);
    EXPECT_TRUE(torch::equal(tensors[weight.name].flatten(), torch::tensor(values))) << weight.name;
    ++compared;
  }
  EXPECT_GT(compared, 30);
  EXPECT_TRUE(train(options("sact", {"init=" + init, "epochs=1"})).finished);
}

TEST_F(Training, StartingFromADeeperNetworkTakesItsFirstUnits) {
  train(options("deep", {"halting=none", "epochs=1", "units=3,2"}));
  const std::string init = (directory_ / "deep/last.safetensors").string();
  EXPECT_TRUE(
      train(options("cut", {"halting=none", "epochs=1", "units=2,1", "init=" + init})).finished);
  const auto message = test::error_of([&] {
    train(options("long", {"halting=none", "epochs=1", "units=4,2", "init=" + init}));
  });
  EXPECT_NE(message.find("stages.0.blocks.3"), std::string::npos) << message;
}

TEST_F(Training, DivergenceStopsWithAMessage) {
  const auto message = test::error_of([&] {
    train(options("a", {"rate=1000", "log_every=1", "halting=none", "epochs=20"}));
  });
  EXPECT_NE(message.find("not finite"), std::string::npos) << message;
}

TEST_F(Training, MistakesGetOneLine) {
  test::error_of([&] { train(options("a", {"data=no/such/folder"})); });
  test::error_of([&] { train(options("b", {"batch=1000"})); });
  EXPECT_NE(test::error_of([&] {
              train(options("m", {"data=synthetic:size=32,count=65536", "batch=65536", "size=4096",
                                  "cache=none"}));
            }).find("of memory, but there is"),
            std::string::npos);
  test::error_of([&] { train(options("c", {"init=no/such/model"})); });
  test::error_of([&] { train(options("d", {"precision=bf16"})); });
  std::ofstream(directory_ / "file") << "x";
  test::error_of([&] { train(options("file")); });
}

}  // namespace
}  // namespace sact::train
