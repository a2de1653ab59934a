// sact adapt: what a user is told, mistakes in one line, and going on.
#include <csignal>

#include "cli/training_runs.h"
#include "io/json.h"

namespace sact {
namespace {

using test::Mistake;

class AdaptCommand : public test::TrainingRuns {
 protected:
  void SetUp() override {
    expect_success({"new", "--units", "2,2", "--width", "4", "--stem", "small", "--classes", "5",
                    "--halting", "none", "--out", "dense.safetensors"});
    expect_success({"synth", "--size", "36", "--count", "24", "--out", "photos"});
  }

  std::vector<std::string> adapting(const std::string& run,
                                    const std::vector<std::string>& more = {}) {
    std::vector<std::string> list = {
        "adapt",   "dense.safetensors", "--images",  "photos",   "--out",     run, "batch=4",
        "size=32", "samples=0",         "workers=1", "epochs=2", "--threads", "1"};
    list.insert(list.end(), more.begin(), more.end());
    return list;
  }
};

TEST_F(AdaptCommand, SaysWhereItBeginsAndWhatCameOut) {
  const test::Finished finished = run(adapting("a", {"--json"}));
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_NE(finished.err.find("at the start: KL 0.0000, agreement 100.00 %"), std::string::npos)
      << finished.err;
  const io::Json json = io::Json::parse(finished.out);
  EXPECT_EQ(json["finished"], true);
  EXPECT_TRUE(json["agreement"].is_number());
  EXPECT_TRUE(json["best_agreement"].is_number());
  const test::Finished predicted = run({"info", "a/best.safetensors", "--json"});
  EXPECT_EQ(io::Json::parse(predicted.out)["spec"]["halting"], "sact");
}

TEST_F(AdaptCommand, SettingsMayStandBehindTheFolders) {
  const test::Finished finished =
      run({"adapt", "dense.safetensors", "--out", "a", "--images", "photos", "photos", "batch=4",
           "size=32", "epochs=1", "samples=0"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  const test::Finished more = run({"adapt", "--out", "a", "epochs=2"});
  EXPECT_EQ(more.status, 0) << more.err;
  EXPECT_NE(more.out.find("finished 2 epochs"), std::string::npos) << more.out;
}

TEST_F(AdaptCommand, StopsAtASignalAndGoesOnToTheSameBits) {
  const std::vector<std::string> more = {"epochs=3", "budget=0.8", "rate=0.001"};
  expect_success(adapting("whole", more));
  auto running = start(adapting("stopped", more));
  ASSERT_TRUE(test::wait_until([&] { return exists("stopped/log.csv"); }));
  running->send(SIGINT);
  const test::Finished stopped = running->wait();
  if (stopped.status != 0) {  // it was not done before the signal came
    EXPECT_NE(stopped.out.find("sact adapt --out stopped"), std::string::npos) << stopped.out;
    expect_success({"adapt", "--out", "stopped", "--threads", "1"});
  }
  EXPECT_EQ(bytes_of("stopped/last.safetensors"), bytes_of("whole/last.safetensors"));
}

TEST_F(AdaptCommand, MistakesAreOneLine) {
  expect_success({"new", "--units", "2,2", "--width", "4", "--stem", "small", "--classes", "5",
                  "--halting", "sact", "--out", "sact.safetensors"});
  std::filesystem::create_directory(directory_ / "empty");
  write("file", "not a folder");
  std::vector<Mistake> mistakes = {
      {{"adapt", "dense.safetensors", "--out", "r1"}, {"'images' is missing"}},
      {{"adapt", "--images", "photos", "--out", "r2"}, {"'init' is missing"}},
      {{"adapt", "sact.safetensors", "--images", "photos", "--out", "r3"},
       {"sact.safetensors", "adaptive already"}},
      {{"adapt", "missing.safetensors", "--images", "photos", "--out", "r4"},
       {"missing.safetensors"}},
      {{"adapt", "dense.safetensors", "--images", "empty", "--out", "r5"}, {"empty", "no JPEG"}},
      {{"adapt", "dense.safetensors", "--images", "file", "--out", "r6"}, {"file", "is a file"}},
      {{"adapt", "dense.safetensors", "--images", "gone", "--out", "r7"},
       {"gone", "no such folder"}},
      {{"adapt", "dense.safetensors", "--images", "photos", "--out", "r8", "bugdet=0.5"},
       {"'bugdet'", "did you mean 'budget'", "sact adapt --settings"}},
  };
  expect_errors(mistakes);
  for (int i = 1; i <= 8; ++i) EXPECT_FALSE(exists("r" + std::to_string(i))) << i;
}

}  // namespace
}  // namespace sact
