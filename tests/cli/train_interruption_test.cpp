// Training runs that are killed, interrupted or meet a full disk, and go on afterwards.
#include <signal.h>

#include "cli/training_runs.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "report/csv.h"

namespace sact {
namespace {

class TrainInterruption : public test::TrainingRuns {
 protected:
  /// Changes whenever the file is replaced.
  std::vector<long> identity(const std::string& file) {
    struct stat status {};
    if (::stat((directory_ / file).c_str(), &status) != 0) return {};
    return {long(status.st_ino), long(status.st_mtim.tv_sec), long(status.st_mtim.tv_nsec)};
  }

  void expect_every_epoch_once(const std::string& run, int epochs) {
    const report::CsvColumns log = report::read_csv(directory_ / (run + "/log.csv"));
    std::vector<double> expected;
    for (int epoch = 1; epoch <= epochs; ++epoch) expected.push_back(epoch);
    ASSERT_NE(log.find("epoch"), nullptr);
    EXPECT_EQ(*log.find("epoch"), expected);
  }

  void remove_spec(const std::string& checkpoint) {
    const io::SafetensorsFile file(directory_ / checkpoint);
    io::Metadata metadata = file.metadata();
    io::Json json = io::Json::parse(metadata.at("sact_checkpoint"));
    ASSERT_EQ(json.erase("spec"), 1u);
    json["mark"] = "complete";  // and no checksum
    metadata.erase("sact_checksum");
    metadata["sact_checkpoint"] = json.dump();
    std::vector<io::NamedTensor> tensors;
    for (const auto& [name, view] : file.tensors()) tensors.push_back({name, view});
    io::write_safetensors(directory_ / checkpoint, tensors, metadata);
  }

  void expect_no_temporaries(const std::string& run) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_ / run)) {
      EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
    }
  }
};

TEST_F(TrainInterruption, KilledAgainAndAgainEndsWithTheSameBits) {
  expect_success(arguments("whole"));
  // A checkpoint at every step.
  const auto again = arguments("killed", {"checkpoint_minutes=1e-6"});
  int kills = 0;
  for (const int delay : {0, 3, 11, 7, 1}) {
    const auto before = identity("killed/checkpoint.safetensors");
    const auto running = start(again);
    ASSERT_TRUE(test::wait_until(
        [&] { return running->ended() || identity("killed/checkpoint.safetensors") != before; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(delay));  // any moment will do
    running->send(SIGKILL);
    kills += running->wait().status == 128 + SIGKILL;
  }
  EXPECT_GE(kills, 2) << "the run was over too soon to be killed";
  for (const char* left : {"killed/.sact-1-0.tmp", "killed/samples/.sact-1-1.tmp"})
    write(left, "half");
  const test::Finished last = run(again);
  EXPECT_EQ(last.status, 0) << last.err;
  EXPECT_NE(last.err.find("resuming killed at epoch"), std::string::npos) << last.err;
  expect_same_model("killed", "whole");
  expect_every_epoch_once("killed", 6);
  expect_no_temporaries("killed");
}

TEST_F(TrainInterruption, SignalsSaveAndResumeToTheSameBits) {
  expect_success(arguments("whole"));
  for (const int signal : {SIGINT, SIGTERM}) {
    SCOPED_TRACE(signal);
    const std::string name = "stopped" + std::to_string(signal);
    const auto running = start(arguments(name));
    ASSERT_TRUE(test::wait_until([&] { return exists(name + "/settings.json"); }));
    running->send(signal);
    const test::Finished stopped = running->wait();
    EXPECT_EQ(stopped.status, 128 + signal) << stopped.err;
    EXPECT_EQ(stopped.err.find("error"), std::string::npos) << stopped.err;
    const std::string line = "stopped at step ";
    ASSERT_TRUE(stopped.out.starts_with(line)) << stopped.out;
    EXPECT_NE(stopped.out.find("run the same command to go on"), std::string::npos) << stopped.out;
    const std::string step = stopped.out.substr(line.size(), stopped.out.find(',') - line.size());
    const test::Finished resumed = run(arguments(name));
    EXPECT_EQ(resumed.status, 0) << resumed.err;
    EXPECT_NE(resumed.err.find("step " + step + "\n"), std::string::npos) << resumed.err;
    expect_same_model(name, "whole");
    expect_every_epoch_once(name, 6);
  }
}

TEST_F(TrainInterruption, SecondSignalEndsAtOnce) {
  // One step of this takes many seconds.
  const auto running =
      start({"train", "--out", "run", "--data", "synthetic:size=160,count=64,val=1", "depth=50",
             "size=160", "batch=64", "--threads", "1"});
  ASSERT_TRUE(test::wait_until([&] { return exists("run/settings.json"); }));
  for (int i = 0; i < 5; ++i) {  // the first two may come together and count as one
    running->send(i % 2 ? SIGTERM : SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const test::Finished ended = running->wait();
  EXPECT_TRUE(ended.status == 128 + SIGINT || ended.status == 128 + SIGTERM) << ended.status;
  EXPECT_EQ(ended.out, "");
  EXPECT_FALSE(exists("run/checkpoint.safetensors"));
}

TEST_F(TrainInterruption, InterruptedWhileDecodingSaysSo) {
  const auto running =
      start(arguments("run", {"data=synthetic:size=64,count=100000", "cache=memory"}));
  ASSERT_TRUE(test::wait_until([&] { return exists("run"); }));
  running->send(SIGINT);
  const test::Finished stopped = running->wait();
  EXPECT_EQ(stopped.status, 128 + SIGINT) << stopped.err;
  EXPECT_NE(stopped.err.find("\nsact: error: interrupted while decoding"), std::string::npos)
      << stopped.err;
  EXPECT_FALSE(exists("run")) << "nothing was begun";
}

TEST_F(TrainInterruption, ResumingDoesNotNeedTheModelItStartedFrom) {
  const std::string init = "init.safetensors";
  ASSERT_EQ(test::run_sact({"new", "--units", "2,2", "--classes", "10", "--stem", "small", "--unit",
                            "basic", "--width", "4", "--out", (directory_ / init).string()})
                .status,
            0);
  const auto command = [&](const std::string& run) { return arguments(run, {"--init", init}); };
  expect_success(command("whole"));
  const auto running = start(command("stopped"));
  ASSERT_TRUE(test::wait_until([&] { return exists("stopped/settings.json"); }));
  running->send(SIGINT);
  EXPECT_EQ(running->wait().status, 128 + SIGINT);
  // Early versions did not store the spec, and such a run goes on with the model.
  std::filesystem::copy(directory_ / "stopped", directory_ / "early",
                        std::filesystem::copy_options::recursive);
  remove_spec("early/checkpoint.safetensors");
  const test::Finished early = run(command("early"));
  EXPECT_EQ(early.status, 0) << early.err;
  EXPECT_NE(early.err.find("without a checksum"), std::string::npos) << early.err;
  expect_same_model("early", "whole");
  std::filesystem::remove(directory_ / init);
  expect_success(command("stopped"));
  expect_same_model("stopped", "whole");
}

TEST_F(TrainInterruption, ADamagedCheckpointGivesWayToTheOneBefore) {
  expect_success(arguments("whole"));
  const auto running = start(arguments("run"));
  ASSERT_TRUE(test::wait_until([&] { return exists("run/checkpoint-previous.safetensors"); }));
  running->send(SIGINT);
  EXPECT_EQ(running->wait().status, 128 + SIGINT);
  const std::string last = "run/checkpoint.safetensors",
                    before = "run/checkpoint-previous.safetensors";
  const std::string good = bytes_of(before);
  std::string damaged = bytes_of(last);
  damaged[damaged.size() - 100] ^= 4;  // among the numbers of a tensor
  write(last, damaged);
  std::filesystem::copy(directory_ / "run", directory_ / "lost",
                        std::filesystem::copy_options::recursive);
  {  // One that is stopped at once has put the good one in the place of the damaged.
    const auto once = start(arguments("run"));
    ASSERT_TRUE(test::wait_until([&] { return bytes_of(last) != damaged; }));
    once->send(SIGKILL);
    const test::Finished killed = once->wait();
    EXPECT_NE(killed.err.find(last + ": is damaged"), std::string::npos) << killed.err;
    EXPECT_NE(killed.err.find("; going on from " + before), std::string::npos) << killed.err;
  }
  expect_success(arguments("run"));
  expect_same_model("run", "whole");
  expect_every_epoch_once("run", 6);

  // One that is not there is like one that is damaged; without any there is nothing to go on from.
  std::filesystem::remove(directory_ / "lost/checkpoint.safetensors");
  damaged = good;
  damaged[damaged.size() / 2] ^= 1;
  std::filesystem::copy(directory_ / "lost", directory_ / "nothing",
                        std::filesystem::copy_options::recursive);
  write("nothing/checkpoint.safetensors", damaged);
  write("nothing/checkpoint-previous.safetensors", damaged);
  expect_errors({{arguments("nothing"),
                  {"nothing/checkpoint.safetensors: is damaged",
                   "nothing/checkpoint-previous.safetensors: is damaged", "remove both"}}});
  expect_success(arguments("lost"));
  expect_same_model("lost", "whole");
}

TEST_F(TrainInterruption, OneFolderIsForOneRunAtATime) {
  const auto first = start(arguments("run", {"epochs=100000"}));
  ASSERT_TRUE(test::wait_until([&] { return exists("run/settings.json"); }));
  expect_error(run(arguments("run")), {"run", "another process"});
}

/// A disk that is full, file by file: the limit is just below the size of one of the files.
TEST_F(TrainInterruption, FullDiskIsOneLineAndTheRunGoesOnAfterwards) {
  const auto settings = std::vector<std::string>{"epochs=2", "samples=1"};
  expect_success(arguments("whole", settings));
  // In the order in which an epoch writes them.
  const std::vector<std::string> files = {
      "settings.json",         "last.safetensors", "best.safetensors", "samples/epoch-0001.png",
      "confusion.csv",         "log.csv",          "curves.svg",       "summary.html",
      "checkpoint.safetensors"};
  auto size_of = [&](const std::string& file) {
    return std::filesystem::file_size(directory_ / ("whole/" + file));
  };
  int limits = 0;
  for (const char* file : {"settings.json", "last.safetensors", "checkpoint.safetensors"}) {
    SCOPED_TRACE(file);
    const uint64_t limit = size_of(file) - 1;
    const std::string name = "full" + std::to_string(limits++);
    const test::Finished full = run(arguments(name, settings), limit);
    const auto first = std::find_if(files.begin(), files.end(), [&](const std::string& other) {
      return size_of(other) > limit;
    });
    expect_error(full, {name + "/" + *first, "cannot be written", "File too large"});
    if (exists(name)) expect_no_temporaries(name);  // a start that failed leaves no folder
    expect_success(arguments(name, settings));
    expect_same_model(name, "whole");
    expect_every_epoch_once(name, 2);
  }
}

TEST_F(TrainInterruption, FullDiskLeavesTheFilesOfEarlierEpochsWhole) {
  const auto settings = std::vector<std::string>{"epochs=2"};
  expect_success(arguments("whole", settings));
  const auto running = start(arguments("full", settings));
  ASSERT_TRUE(test::wait_until([&] { return exists("full/checkpoint.safetensors"); }));
  running->send(SIGINT);
  running->wait();
  const std::vector<std::string> files = {"full/checkpoint.safetensors", "full/last.safetensors",
                                          "full/best.safetensors", "full/log.csv"};
  std::vector<std::string> before;
  for (const std::string& file : files) before.push_back(bytes_of(file));
  const uint64_t limit = std::filesystem::file_size(directory_ / "full/last.safetensors") - 1;
  expect_error(run(arguments("full", settings), limit),
               {"full/last.safetensors", "cannot be written", "File too large"});
  for (size_t i = 0; i < files.size(); ++i)
    EXPECT_TRUE(bytes_of(files[i]) == before[i]) << files[i];
  EXPECT_EQ(test::run_sact({"info", (directory_ / "full/best.safetensors").string()}).status, 0);
  expect_success(arguments("full", settings));
  expect_same_model("full", "whole");
}

/// Each file of a run in turn cannot be written: something else stands in its place.
TEST_F(TrainInterruption, FileThatCannotBeWrittenIsNamed) {
  std::vector<test::Mistake> mistakes;
  auto add = [&](const std::string& run, const std::string& name, const std::string& problem) {
    mistakes.push_back({arguments(run, {"epochs=1", "samples=1"}), {run + "/" + name, problem}});
  };
  for (const std::string file :
       {"settings.json", "log.csv", "curves.svg", "summary.html", "last.safetensors",
        "best.safetensors", "checkpoint.safetensors", "confusion.csv", "samples/epoch-0001.png"}) {
    const std::string run = "no-" + std::filesystem::path(file).stem().string();
    std::filesystem::create_directories(directory_ / run / file);
    add(run, file, "directory");
  }
  for (const std::string folder : {"events", "samples"}) {
    write("no-" + folder + "/" + folder, "a file");
    add("no-" + folder, folder, "cannot be made");
  }
  expect_errors(mistakes);
  expect_success(arguments("whole", {"epochs=1"}));
  for (const std::string run : {"no-curves", "no-checkpoint"}) {
    std::filesystem::remove(directory_ / run /
                            (run == "no-curves" ? "curves.svg" : "checkpoint.safetensors"));
    expect_success(arguments(run, {"epochs=1", "samples=1"}));
    expect_same_model(run, "whole");
  }
}

}  // namespace
}  // namespace sact
