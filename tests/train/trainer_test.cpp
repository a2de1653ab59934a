// Training runs: learning, stopping, resuming to the last bit, and mistakes.
#include "train/loop/trainer.h"

#include <gtest/gtest.h>

#include <fstream>

#include <map>

#include "base/log.h"
#include "data/open.h"
#include "io/json.h"
#include "report/csv.h"
#include "report/pictures.h"
#include "support/errors.h"
#include "support/protobuf.h"
#include "support/temporary.h"
#include "train/classify/task.h"
#include "train/loop/run_log.h"
#include "train/loop/start_weights.h"
#include "train/torch/network_weights.h"

namespace sact::train {
namespace {

class Training : public ::testing::Test {
 protected:
  void SetUp() override { set_log_level(LogLevel::kWarning); }
  void TearDown() override { set_log_level(LogLevel::kInfo); }

  TrainRequest request(const std::string& run, const std::vector<std::string>& changes = {}) {
    TrainRequest request;
    request.assignments = {"data=synthetic:size=36,count=60,val=20",
                           "units=2,2",
                           "stem=small",
                           "unit=basic",
                           "width=4",
                           "size=32",
                           "halting=sact",
                           "epochs=2",
                           "batch=10",
                           "samples=2",
                           "workers=2"};
    request.assignments.insert(request.assignments.end(), changes.begin(), changes.end());
    request.run = (directory_ / run).string();
    request.threads = 1;
    return request;
  }

  /// The task is that of the last call.
  TrainOutcome train(const TrainRequest& request) {
    task_ = std::make_unique<ClassifierTask>();
    return run_training(*task_, request);
  }

  std::string bytes_of(const std::string& file) {
    std::ifstream stream(directory_ / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }

  /// Values by step of every scalar in the event files of a folder.
  std::map<std::string, std::map<int64_t, float>> scalars(const std::string& folder) {
    std::map<std::string, std::map<int64_t, float>> found;
    for (const auto& entry : std::filesystem::directory_iterator(directory_ / folder)) {
      const std::string file = bytes_of(folder + "/" + entry.path().filename().string());
      for (std::string_view bytes = file; !bytes.empty();) {
        const auto length = test::number<uint64_t>(test::take(bytes, 12).substr(0, 8));
        const test::Fields event = test::parse_message(test::take(bytes, length));
        test::take(bytes, 4);
        if (!event.count(5)) continue;
        const test::Fields value =
            test::parse_message(test::parse_message(event.at(5).at(0)).at(1).at(0));
        if (!value.count(2)) continue;
        found[std::string(value.at(1).at(0))][test::number<int64_t>(event.at(2).at(0))] =
            test::number<float>(value.at(2).at(0));
      }
    }
    return found;
  }

  /// Every file below a folder with its content.
  std::map<std::string, std::string> files_in(const std::string& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_ / folder)) {
      const std::string name = std::filesystem::relative(entry.path(), directory_.path()).string();
      if (entry.is_regular_file()) files[name] = bytes_of(name);
    }
    return files;
  }

  test::TemporaryDirectory directory_;
  std::unique_ptr<ClassifierTask> task_;
};

TEST_F(Training, RunFolderHasEverything) {
  const TrainOutcome result = train(request("a"));
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(result.epochs, 2);
  EXPECT_EQ(result.steps, 12);
  EXPECT_EQ(task_->last_evaluation().images, 20);
  for (const char* file : {"settings.json", "log.csv", "curves.svg", "summary.html", "events",
                           "best.safetensors", "last.safetensors", "checkpoint.safetensors"}) {
    EXPECT_TRUE(std::filesystem::exists(directory_ / ("a/" + std::string(file)))) << file;
  }
  EXPECT_EQ(std::filesystem::exists(directory_ / "a/samples/epoch-0002.png"),
            report::can_draw_pictures());
  const report::CsvColumns log = report::read_csv(directory_ / "a/log.csv");
  EXPECT_EQ(log.rows(), 2u);
  EXPECT_EQ(result.score, log.find("val_accuracy")->back());
  EXPECT_EQ(result.flops, log.find("flops")->back());
  const ModelFile model(directory_ / "a/last.safetensors");
  EXPECT_EQ(model.spec().classes, 10);
  EXPECT_EQ(model.spec().labels.size(), 10u);
  EXPECT_EQ(model.spec().halting, Halting::kSact);
}

TEST_F(Training, LossesOfStepsAddUpToThatOfTheEpoch) {
  // Six steps an epoch: the losses are looked at after steps 5, 6, 10 and 12.
  train(request("a", {"log_every=5", "tau=0.1"}));
  const report::CsvColumns log = report::read_csv(directory_ / "a/log.csv");
  const auto events = scalars("a/events");
  for (const auto& [tag, column] :
       {std::pair("step/loss", "train_loss"), std::pair("step/cross_entropy", "train_entropy"),
        std::pair("step/ponder_cost", "train_ponder_cost")}) {
    SCOPED_TRACE(tag);
    const auto& points = events.at(tag);
    ASSERT_EQ(points.size(), 4u);
    const std::vector<double>& means = *log.find(column);
    EXPECT_NEAR((5 * points.at(5) + 1 * points.at(6)) / 6, means[0], 1e-6 * means[0]);
    EXPECT_NEAR((4 * points.at(10) + 2 * points.at(12)) / 6, means[1], 1e-6 * means[1]);
  }
  const double loss = log.find("train_loss")->back(), entropy = log.find("train_entropy")->back();
  EXPECT_NEAR(loss - entropy, 0.1 * log.find("train_ponder_cost")->back(), 1e-6);
  EXPECT_EQ(events.at("step/rate").at(12), 0.05f);
  EXPECT_NEAR(events.at("val/loss").at(12), log.find("val_loss")->back(), 1e-6);
}

TEST_F(Training, ValidationLossAndConfusionAreThoseOfTheAnswers) {
  const TrainOutcome result = train(request("a", {"epochs=1"}));
  const auto dataset = data::open_dataset(result.data, result.split);
  DeviceLoader loader(*dataset, {36});
  ProcessGroup alone;
  double entropy = 0, correct = 0;
  EvaluateOptions options{{32, 32}, 7};
  options.on_image = [&](const EvaluatedImage& image) {
    const std::vector<double> shares = softmax(image.result.logits);
    entropy -= std::log(shares[size_t(image.label)]) / 20;
    correct += image.label == top_classes(image.result.logits, 1).front().index;
  };
  evaluate(task_->network(), loader, alone, options);
  const report::CsvColumns log = report::read_csv(directory_ / "a/log.csv");
  EXPECT_NEAR(log.find("val_loss")->back(), entropy, 1e-5);
  const report::CsvColumns confusion = report::read_csv(directory_ / "a/confusion.csv");
  double images = 0, on_diagonal = 0;
  for (size_t row = 0; row < confusion.rows(); ++row) {
    const double count = (*confusion.find("images"))[row];
    images += count;
    if ((*confusion.find("label"))[row] == (*confusion.find("answer"))[row]) on_diagonal += count;
  }
  EXPECT_EQ(images, 20);
  EXPECT_EQ(on_diagonal, correct);
}

TEST_F(Training, SummaryHasBestAndLastClassesAndSamplesOfSeveralEpochs) {
  train(request("a"));
  const std::string page = bytes_of("a/summary.html");
  for (const char* part :
       {"Best and last epoch", "Accuracy by class, the weakest first (epoch 2)",
        "Most confused classes (epoch 2)", "Confusion matrix (epoch 2)", "Accuracy over FLOPs",
        "Epoch 1: ponder cost", "Epoch 2: ponder cost", "validation cross-entropy"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(page.find("src=\"./"), std::string::npos) << "needs no file beside it";
}

TEST_F(Training, SameSeedGivesTheSameRunAndAnotherSeedDoesNot) {
  train(request("a"));
  train(request("b"));
  train(request("c", {"seed=1"}));
  EXPECT_EQ(bytes_of("a/last.safetensors"), bytes_of("b/last.safetensors"));
  EXPECT_NE(bytes_of("a/last.safetensors"), bytes_of("c/last.safetensors"));
}

TEST_F(Training, InterruptedAtAnyStepResumesToTheSameBits) {
  train(request("whole"));
  const std::string expected = bytes_of("whole/last.safetensors");
  for (int stop : {1, 4, 6, 7, 11}) {
    SCOPED_TRACE(stop);
    const std::string run = "stopped" + std::to_string(stop);
    // Without a cache it is asked once at every step and nowhere else.
    TrainRequest first = request(run, {"cache=none"});
    int steps = 0;
    first.interrupted = [&] { return ++steps >= stop; };
    EXPECT_FALSE(train(first).finished);
    const TrainOutcome resumed = train(request(run));
    EXPECT_TRUE(resumed.finished);
    EXPECT_EQ(resumed.steps, 12);
    EXPECT_EQ(bytes_of(run + "/last.safetensors"), expected);
    const auto a = report::read_csv(directory_ / "whole/log.csv");
    const auto b = report::read_csv(directory_ / (run + "/log.csv"));
    ASSERT_EQ(b.rows(), 2u) << "no epoch is logged twice";
    EXPECT_EQ(*a.find("train_loss"), *b.find("train_loss"));
  }
}

TEST(Progression, OfEarlyVersionsIsRead) {
  // A classifier's, in the midst of an epoch, and a detector's.
  const Progression classifier = progression_from_json(
      R"({"epoch":1,"position":20,"step":8,"best_accuracy":0.5,"workers":1,"loss_sum":46.5,
          "entropy_sum":46.25,"ponder_sum":100.5,"correct":2.0,"images":20.0,"seconds":1.5,
          "most_units":[2.0,1.0],"losses":[]})",
      "x");
  EXPECT_EQ(classifier.sums, (std::vector<double>{46.5, 46.25, 100.5, 2}));
  EXPECT_EQ(classifier.maxima, (std::vector<double>{2, 1}));
  EXPECT_EQ(classifier.best_score, 0.5);
  const Progression detector = progression_from_json(
      R"({"epoch":1,"position":2,"step":4,"best_accuracy":-1.0,"workers":1,"loss_sum":4.0,
          "entropy_sum":0.0,"ponder_sum":0.0,"correct":0.0,"images":2.0,"seconds":1.5,
          "most_units":[],"losses":[0.5,0.25,1.5,0.125,7.0]})",
      "x");
  EXPECT_EQ(detector.sums, (std::vector<double>{4, 0.5, 0.25, 1.5, 0.125, 7}));
  EXPECT_EQ(progression_from_json(to_json(detector), "x").sums, detector.sums);
}

TEST_F(Training, FinishedRunIsNotTrainedFurther) {
  train(request("a"));
  const auto before = files_in("a");
  const TrainOutcome again = train(request("a"));
  EXPECT_TRUE(again.finished);
  EXPECT_TRUE(again.finished_before);
  EXPECT_EQ(again.steps, 12);
  const report::CsvColumns log = report::read_csv(directory_ / "a/log.csv");
  EXPECT_EQ(again.score, log.find("val_accuracy")->back());
  EXPECT_EQ(again.best_score,
            value_in(log, "val_accuracy", best_and_last(log, "val_accuracy")->best));
  EXPECT_EQ(files_in("a"), before) << "nothing is written";
}

TEST_F(Training, MoreEpochsGoOnAsIfTheyHadBeenAskedForAtOnce) {
  train(request("whole"));
  train(request("a", {"epochs=1"}));
  // Of the settings, only what is given must be known.
  TrainRequest more;
  more.run = (directory_ / "a").string();
  more.threads = 1;
  more.assignments = {"epochs=2"};
  const TrainOutcome result = train(more);
  EXPECT_EQ(result.epochs, 2);
  EXPECT_FALSE(result.finished_before);
  EXPECT_EQ(bytes_of("a/last.safetensors"), bytes_of("whole/last.safetensors"));
  EXPECT_EQ(bytes_of("a/settings.json"), bytes_of("whole/settings.json"));
  // The rest is refused as ever, and so are fewer epochs.
  more.assignments = {"rate=1"};
  EXPECT_NE(test::error_of([&] { train(more); }).find("rate: 0.05 -> 1.0"), std::string::npos);
  more.assignments = {"epochs=1"};
  EXPECT_NE(test::error_of([&] { train(more); }).find("epochs: 2 -> 1"), std::string::npos);
}

TEST_F(Training, HeldOutImagesAreThoseThatEvaluationCanOpen) {
  for (const char* name : {"cat", "dog"}) {
    for (int i = 0; i < 10; ++i) {
      const auto path = directory_ / fmt::format("photos/{}/{}.png", name, i);
      std::filesystem::create_directories(path.parent_path());
      io::write_image(path, io::RgbImage(36, 36));
    }
  }
  const std::string data = (directory_ / "photos").string();
  const TrainOutcome result =
      train(request("a", {"data=" + data, "val_split=0.2", "epochs=1", "batch=8", "samples=0"}));
  EXPECT_EQ(task_->last_evaluation().images, 4);
  EXPECT_EQ(result.steps, 2);
  EXPECT_EQ(data::open_dataset(data, "val:0.2")->size(), 4);
  EXPECT_NE(test::error_of([&] { train(request("b", {"data=" + data})); }).find("val_split=0.1"),
            std::string::npos);
}

TEST_F(Training, ChangedSettingsAreRefusedWithAList) {
  train(request("a"));
  const auto message = test::error_of([&] {
    train(request("a", {"rate=0.2", "epochs=1", "workers=1"}));
  });
  EXPECT_NE(message.find("rate: 0.05 -> 0.2"), std::string::npos) << message;
  EXPECT_NE(message.find("epochs: 2 -> 1"), std::string::npos) << message;
  EXPECT_EQ(message.find("workers"), std::string::npos) << message;
}

TEST_F(Training, DamagedCheckpointsAreKeptAndIfAllAreItIsOneClearError) {
  train(request("a"));
  const auto cut = [&](const std::string& name) {
    const std::string bytes = bytes_of(name).substr(0, bytes_of(name).size() / 2);
    std::ofstream(directory_ / name, std::ios::binary) << bytes;
    return bytes;
  };
  const std::string damaged = cut("a/checkpoint.safetensors");
  train(request("a"));  // goes on from the one before
  EXPECT_EQ(bytes_of("a/checkpoint-damaged.safetensors"), damaged);
  cut("a/checkpoint.safetensors");
  cut("a/checkpoint-previous.safetensors");
  const std::string message = test::error_of([&] { train(request("a")); });
  EXPECT_NE(message.find("checkpoint.safetensors"), std::string::npos) << message;
  EXPECT_NE(message.find("checkpoint-previous.safetensors"), std::string::npos) << message;
}

TEST_F(Training, TwoStagesStartFromThePlainNetwork) {
  train(request("plain", {"halting=none", "epochs=1"}));
  const std::string init = (directory_ / "plain/last.safetensors").string();
  const ModelFile file(init);
  TrainSettings settings;
  for (const std::string& text : request("x", {"init=" + init}).assignments) {
    set_from_text(settings, text);
  }
  Network network(spec_of_run(settings, file.spec().labels));
  start_from(named_tensors(*network), network->spec(), file);
  auto tensors = named_tensors(*network);
  int compared = 0;
  for (const WeightInfo& weight : weight_list(file.spec())) {
    const auto values = file.values(weight);
    EXPECT_TRUE(torch::equal(tensors[weight.name].flatten(), torch::tensor(values))) << weight.name;
    ++compared;
  }
  EXPECT_GT(compared, 30);
  EXPECT_TRUE(train(request("sact", {"init=" + init, "epochs=1"})).finished);
}

TEST_F(Training, StartingFromADeeperNetworkTakesItsFirstUnits) {
  train(request("deep", {"halting=none", "epochs=1", "units=3,2"}));
  const std::string init = (directory_ / "deep/last.safetensors").string();
  EXPECT_TRUE(
      train(request("cut", {"halting=none", "epochs=1", "units=2,1", "init=" + init})).finished);
  const auto message = test::error_of([&] {
    train(request("long", {"halting=none", "epochs=1", "units=4,2", "init=" + init}));
  });
  EXPECT_NE(message.find("stages.0.blocks.3"), std::string::npos) << message;
}

TEST_F(Training, DivergenceStopsWithAMessage) {
  const auto message = test::error_of([&] {
    train(request("a", {"rate=1000", "log_every=1", "halting=none", "epochs=20"}));
  });
  EXPECT_NE(message.find("not finite"), std::string::npos) << message;
}

TEST_F(Training, MistakesGetOneLine) {
  test::error_of([&] { train(request("a", {"data=no/such/folder"})); });
  test::error_of([&] { train(request("b", {"batch=1000"})); });
  EXPECT_NE(test::error_of([&] {
              train(request("m", {"data=synthetic:size=32,count=65536", "batch=65536", "size=4096",
                                  "cache=none"}));
            }).find("of memory, but there is"),
            std::string::npos);
  test::error_of([&] { train(request("c", {"init=no/such/model"})); });
  test::error_of([&] { train(request("d", {"precision=bf16"})); });
  test::error_of([&] { train(request("e/f/g", {"epochs=0"})); });
  test::error_of([&] { train(request("e/f/g", {"batch=1000"})); });
  for (const char* run : {"a", "b", "c", "d", "e"}) {
    EXPECT_FALSE(std::filesystem::exists(directory_ / run)) << run;
  }
  std::filesystem::create_directories(directory_ / "mine");
  test::error_of([&] { train(request("mine/new", {"batch=1000"})); });
  test::error_of([&] { train(request("mine", {"batch=1000"})); });
  EXPECT_TRUE(std::filesystem::is_empty(directory_ / "mine")) << "it was there before";
  std::ofstream(directory_ / "file") << "x";
  test::error_of([&] { train(request("file")); });
}

}  // namespace
}  // namespace sact::train
