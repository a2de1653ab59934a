// sact train: every mistake is one line, and what a user is told about a run.
#include "cli/training_runs.h"
#include "io/json.h"
#include "report/csv.h"

namespace sact {
namespace {

using test::Mistake;

class TrainCommand : public test::TrainingRuns {
 protected:
  /// A folder of six images in each of two classes and splits.
  void make_images(const std::string& folder) {
    if (image_.empty()) {
      ASSERT_EQ(test::run_sact({"synth", "--size", "36", "--count", "1", "--out",
                                (directory_ / "picture").string()})
                    .status,
                0);
      for (const auto& entry :
           std::filesystem::recursive_directory_iterator(directory_ / "picture")) {
        if (entry.path().extension() == ".png") {
          image_ = bytes_of(std::filesystem::relative(entry.path(), directory_.path()).string());
        }
      }
      ASSERT_FALSE(image_.empty());
    }
    for (const char* split : {"/train", "/val"}) {
      for (const char* label : {"/cat/", "/dog/"}) {
        for (int i = 0; i < 6; ++i)
          write(folder + split + label + std::to_string(i) + ".png", image_);
      }
    }
  }

  /// A folder for each start, since they run at the same time.
  std::string fresh_run() { return "run" + std::to_string(runs_++); }

  /// Starts that failed left nothing behind; those in `begun` failed at the first images, and left
  /// nothing that would stand in the way of the next.
  void expect_no_runs(const std::vector<std::string>& begun = {}) {
    for (int i = 0; i < runs_; ++i) {
      const std::string run = "run" + std::to_string(i);
      if (std::find(begun.begin(), begun.end(), run) == begun.end()) {
        EXPECT_FALSE(exists(run)) << run;
      }
      for (const char* file : {"last.safetensors", "checkpoint.safetensors"}) {
        EXPECT_FALSE(exists(run + "/" + file)) << run << ": " << file;
      }
    }
  }

  std::string image_;
  int runs_ = 0;
};

TEST_F(TrainCommand, AbsurdSettingsAreRefused) {
  std::vector<Mistake> mistakes;
  auto add = [&](const std::string& setting, std::vector<std::string> words) {
    mistakes.push_back({arguments(fresh_run(), {setting}), std::move(words)});
  };
  add("epochs=0", {"'epochs'", "between 1 and"});
  add("batch=0", {"'batch'", "between 1 and"});
  add("batch=41", {"'batch'", "do not fill"});
  add("rate=nan", {"'rate'", "a number"});
  add("rate=-1", {"'rate'", "between 0 and"});
  add("size=7", {"'size'", "between 32 and"});
  add("tau=inf", {"'tau'", "a number"});
  add("ratte=1", {"'ratte'", "sact train --settings"});
  add("epochs", {"'epochs'", "key=value"});
  add("units=0,0", {"'units'", "between 1 and"});
  add("width=0", {"'width'"});
  add("epsilon=2", {"'epsilon'"});
  add("halting=maybe", {"'halting'", "none, act or sact"});
  mistakes.push_back(
      {{"train", "--out", fresh_run(), "--data", "synthetic", "depth=77"}, {"77", "101"}});
  write("type.json", R"({"epochs": "many"})");
  write("half.json", R"({"epochs": 1)");
  write("list.json", "[1]");
  write("unknown.json", R"({"ratte": 1})");
  std::filesystem::create_directory(directory_ / "folder.json");
  for (const Mistake& config : {Mistake{{"type.json"}, {"type.json", "'epochs'", "whole number"}},
                                Mistake{{"half.json"}, {"half.json", "ends too early"}},
                                Mistake{{"list.json"}, {"list.json", "JSON object"}},
                                Mistake{{"unknown.json"}, {"unknown.json", "'ratte'"}},
                                Mistake{{"folder.json"}, {"folder.json", "directory"}},
                                Mistake{{"missing.json"}, {"missing.json", "No such file"}}}) {
    mistakes.push_back({arguments(fresh_run(), {"--config", config.arguments[0]}), config.words});
  }
  write("file", "not a folder");
  mistakes.push_back({arguments("file"), {"file", "a file stands there"}});
  mistakes.push_back({arguments("file/below"), {"file/below", "a file stands there"}});
  mistakes.push_back({arguments("/proc/sact-run"), {"/proc/sact-run", "cannot be made"}});
  expect_errors(mistakes);
  expect_no_runs();
}

TEST_F(TrainCommand, DataThatCannotBeUsedIsNamed) {
  for (const char* folder : {"noval", "notrain", "empty", "other", "fewer", "unreadable", "text"}) {
    make_images(folder);
  }
  std::filesystem::remove_all(directory_ / "noval/val");
  std::filesystem::remove_all(directory_ / "notrain/train");
  std::filesystem::remove_all(directory_ / "empty/train/dog");
  std::filesystem::create_directory(directory_ / "empty/train/dog");
  std::filesystem::rename(directory_ / "other/val/dog", directory_ / "other/val/fox");
  std::filesystem::remove_all(directory_ / "fewer/val/dog");
  for (int i = 0; i < 6; ++i) write("unreadable/train/dog/" + std::to_string(i) + ".png", "");
  for (const char* name : {"a", "b", "c"}) {
    write(std::string("text/train/cat/") + name + ".jpg", "This is no picture.\n");
  }
  std::vector<Mistake> mistakes;
  auto add = [&](const std::string& data, std::vector<std::string> words,
                 const std::string& setting = "cache=auto") {
    mistakes.push_back({arguments(fresh_run(), {"data=" + data, setting}), std::move(words)});
  };
  add("missing", {"missing", "no such folder"});
  add("noval", {"noval", "'val'"});
  add("notrain", {"notrain", "'train'"});
  add("empty", {"empty/train/dog", "no JPEG, PNG"});
  add("other", {"other", "same classes", "'dog'"});
  add("fewer", {"fewer", "same classes", "'dog'"});
  for (const char* cache : {"cache=memory", "cache=none"}) {
    add("unreadable", {"unreadable/train/dog", "more than the 1 allowed"}, cache);
    add("text", {"text/train/cat", ".jpg", "more than the 1 allowed"}, cache);
  }
  expect_errors(mistakes);
  expect_no_runs({"run8", "run9"});  // cache=none
  // A few unreadable images are named and left out. The folder is that of a start that failed.
  const test::Finished tolerated =
      run(arguments("run9", {"data=text", "epochs=1", "max_corrupt=0.3"}));
  EXPECT_EQ(tolerated.status, 0) << tolerated.err;
  EXPECT_NE(tolerated.err.find("warning: left out: text/train/cat/a.jpg: is a text file"),
            std::string::npos)
      << tolerated.err;
}

TEST_F(TrainCommand, LostClassesAreNamedAndNothingToEvaluateIsAnError) {
  for (const char* folder : {"lost", "blind"}) make_images(folder);
  const auto damage = [&](const std::string& folder) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_ / folder)) {
      if (entry.is_regular_file()) std::ofstream(entry.path()) << "This is no picture.\n";
    }
  };
  damage("lost/train/dog");
  damage("blind/val");
  for (const char* cache : {"cache=memory", "cache=none"}) {
    const test::Finished lost = run(arguments(
        fresh_run(), {"data=lost", "epochs=1", "batch=2", "eval_every=1", "max_corrupt=1", cache}));
    EXPECT_EQ(lost.status, 0) << lost.err;
    EXPECT_NE(lost.err.find("warning: class 'dog' is lost"), std::string::npos) << lost.err;
    expect_error(run(arguments(fresh_run(), {"data=blind", "epochs=1", "max_corrupt=1", cache})),
                 {"none of the", "images can be read"});
  }
}

TEST_F(TrainCommand, ModelThatCannotStartTheNetworkIsRefused) {
  auto make = [&](const std::string& name, const std::vector<std::string>& changes) {
    std::vector<std::string> options = {"new", "--classes", "10", "--out",
                                        (directory_ / name).string()};
    options.insert(options.end(), changes.begin(), changes.end());
    const test::Finished made = test::run_sact(options);
    EXPECT_EQ(made.status, 0) << made.err;
  };
  make("wide", {"--units", "2,2", "--stem", "small", "--unit", "basic", "--width", "8"});
  make("stem", {"--units", "2,2", "--stem", "imagenet", "--unit", "basic", "--width", "4"});
  make("unit", {"--units", "2,2", "--stem", "small", "--unit", "bottleneck", "--width", "4"});
  make("short", {"--units", "2,1", "--stem", "small", "--unit", "basic", "--width", "4"});
  write("text", "no model");
  write("nothing", "");
  std::vector<Mistake> mistakes;
  auto add = [&](const std::string& init, std::vector<std::string> words) {
    mistakes.push_back({arguments(fresh_run(), {"--init", init}), std::move(words)});
  };
  add("wide", {"'width'", "4 was asked for", "wide has 8"});
  add("stem", {"'stem'", "small was asked for", "stem has imagenet"});
  add("unit", {"'unit'", "basic was asked for", "unit has bottleneck"});
  add("short", {"short", "stages.1.blocks.1", "units 2,2"});
  add("text", {"text", "not a safetensors file"});
  add("nothing", {"nothing", "not a safetensors file"});
  add("missing", {"missing", "cannot be opened"});
  expect_errors(mistakes);
  expect_no_runs();
}

TEST_F(TrainCommand, DamagedRunsAreNotResumed) {
  const std::vector<std::string> settings = {"epochs=2"};
  expect_success(arguments("whole", settings));
  expect_success(arguments("wide", {"epochs=2", "width=8"}));
  const std::string checkpoint = bytes_of("whole/checkpoint.safetensors");
  auto copy = [&](const std::string& name) {
    std::filesystem::copy(directory_ / "whole", directory_ / name,
                          std::filesystem::copy_options::recursive);
    // Otherwise a run goes on from it: tests/train/trainer_test.cpp.
    std::filesystem::remove(directory_ / name / "checkpoint-previous.safetensors");
    return name + "/checkpoint.safetensors";
  };
  write(copy("cut"), checkpoint.substr(0, checkpoint.size() - 1000));
  write(copy("cuthead"), checkpoint.substr(0, 100));
  write(copy("zero"), "");
  write(copy("model"), bytes_of("whole/last.safetensors"));
  write(copy("other"), bytes_of("wide/checkpoint.safetensors"));
  copy("settings");
  write("settings/settings.json", "{\"epochs\": ");
  std::vector<Mistake> mistakes;
  for (const char* run : {"cut", "cuthead", "zero", "model"}) {
    mistakes.push_back({arguments(run, settings),
                        {std::string(run) + "/checkpoint.safetensors", "start the run anew"}});
  }
  mistakes.push_back({arguments("other", settings), {"other settings", "width: 8 -> 4"}});
  mistakes.push_back({arguments("settings", settings), {"settings/settings.json", "remove this"}});
  mistakes.push_back(
      {arguments("whole", {"epochs=2", "rate=0.2"}), {"other settings", "rate: 0.05 -> 0.2"}});
  mistakes.push_back({{"train-detector", "--out", "whole"}, {"whole", "'sact train'"}});
  expect_errors(mistakes);
  for (const char* run : {"cut", "zero", "other"}) expect_same_model(run, "whole");
  // The settings are in the checkpoint too.
  copy("nosettings");
  std::filesystem::remove(directory_ / "nosettings/settings.json");
  expect_errors({{arguments("nosettings", {"epochs=1"}), {"epochs: 2 -> 1"}}});
  expect_success(arguments("nosettings", {"epochs=3"}));
  expect_success(arguments("whole", {"epochs=3"}));
  EXPECT_EQ(bytes_of("nosettings/settings.json"), bytes_of("whole/settings.json"));
}

TEST_F(TrainCommand, FolderAloneGoesOnAndAFinishedRunSaysSoInOneLine) {
  expect_success(arguments("whole", {"epochs=2"}));
  const test::Finished first = run(arguments("run", {"epochs=1"}));
  EXPECT_EQ(first.status, 0) << first.err;
  for (const char* part :
       {"40 images for training, 9 for validation, 10 classes",
        "sact network of depth 10 (basic units 2,2, width 4)", "1 epoch of 10 steps, 4 images each",
        "cpu, fp32, 1 thread", "starting run with fresh weights (seed 0)"}) {
    EXPECT_NE(first.err.find(part), std::string::npos) << part << " is not in: " << first.err;
  }
  EXPECT_NE(first.out.find("--data synthetic:size=36,count=40,val=9"), std::string::npos)
      << first.out;
  const test::Finished more = run({"train", "--out", "run", "epochs=2", "--threads", "1"});
  EXPECT_EQ(more.status, 0) << more.err;
  EXPECT_NE(more.err.find("epochs: 1 -> 2"), std::string::npos) << more.err;
  EXPECT_NE(more.err.find("resuming run at epoch 2, step 10\n"), std::string::npos) << more.err;
  expect_same_model("run", "whole");
  const test::Finished again = run({"train", "--out", "run"});
  EXPECT_EQ(again.status, 0);
  EXPECT_EQ(again.err, "");
  EXPECT_TRUE(again.out.starts_with("run is finished: 2 epochs, best accuracy ")) << again.out;
  EXPECT_EQ(again.out.find('\n'), again.out.size() - 1) << again.out;
  const io::Json json = io::Json::parse(run({"train", "--out", "run", "--json"}).out);
  const report::CsvColumns log = report::read_csv(directory_ / "run/log.csv");
  EXPECT_EQ(json.at("accuracy"), log.find("val_accuracy")->back());
  EXPECT_EQ(json.at("flops"), log.find("flops")->back());
  EXPECT_EQ(json.at("finished"), true);
  EXPECT_EQ(json.at("steps"), 20);
  EXPECT_GE(json.at("best_accuracy").get<double>(), json.at("accuracy").get<double>());
  expect_errors({{{"train", "--out", "nowhere"}, {"'data'", "missing"}}});
  EXPECT_FALSE(exists("nowhere"));
}

TEST_F(TrainCommand, DeadUnitsAreNamedOnce) {
  const test::Finished finished =
      run(arguments("run", {"units=3,2", "halting_bias=20", "epochs=3"}));
  EXPECT_EQ(finished.status, 0) << finished.err;
  const std::string warning = "warning: 3 of 5 units are dead",
                    where = "block 1: units 2 to 3; block 2: unit 2";
  const size_t first = finished.err.find(warning);
  ASSERT_NE(first, std::string::npos) << finished.err;
  EXPECT_EQ(finished.err.find(warning, first + 1), std::string::npos) << finished.err;
  EXPECT_NE(finished.err.find(where, first), std::string::npos) << finished.err;
  EXPECT_NE(bytes_of("run/summary.html").find(where), std::string::npos);
  const test::Finished alive = run(arguments("alive", {"epochs=1"}));
  EXPECT_EQ(alive.err.find("dead"), std::string::npos) << alive.err;
}

}  // namespace
}  // namespace sact
