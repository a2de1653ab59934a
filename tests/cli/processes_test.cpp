// sact train and sact eval in two processes on this machine.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <memory>
#include <thread>

#include "io/json.h"
#include "support/program.h"

namespace sact {
namespace {

class ProcessesCommand : public ::testing::Test {
 protected:
  std::vector<std::string> train_arguments() {
    return {
        "train",       "--out",      "run",        "--data",    "synthetic:size=36,count=40,val=9",
        "units=2,1",   "stem=small", "unit=basic", "width=4",   "size=32",
        "epochs=40",   "batch=5",    "samples=0",  "workers=1", "eval_every=40",
        "halting=sact"};
  }

  std::unique_ptr<test::Running> start(const std::vector<std::string>& arguments, int rank,
                                       int port) {
    return std::make_unique<test::Running>(test::Command{
        SACT_PROGRAM, arguments, test::worker_environment(rank, 2, port), directory_.path()});
  }

  test::TemporaryDirectory directory_;
};

TEST_F(ProcessesCommand, OneThatIsKilledEndsTheOtherAndARestartResumes) {
  int port = test::free_port();
  {
    const auto first = start(train_arguments(), 0, port),
               second = start(train_arguments(), 1, port);
    const auto checkpoint = directory_ / "run/checkpoint.safetensors";
    const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!std::filesystem::exists(checkpoint) && std::chrono::steady_clock::now() < patience) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    second->send(SIGKILL);
    const test::Finished left = first->wait();
    EXPECT_EQ(second->wait().status, 128 + SIGKILL);
    EXPECT_EQ(left.status, 1) << left.err;
    EXPECT_NE(left.err.find("worker 0 of 2 lost contact"), std::string::npos) << left.err;
    // Lines of epochs, and one of the error.
    const size_t error = left.err.find("sact:");
    ASSERT_NE(error, std::string::npos) << left.err;
    EXPECT_EQ(left.err.find('\n', error), left.err.size() - 1) << left.err;
  }
  port = test::free_port();
  const auto first = start(train_arguments(), 0, port), second = start(train_arguments(), 1, port);
  const test::Finished resumed = first->wait(), other = second->wait();
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(other.status, 0) << other.err;
  EXPECT_NE(resumed.err.find("resuming run at epoch"), std::string::npos) << resumed.err;
  EXPECT_NE(resumed.out.find("finished 40 epochs"), std::string::npos) << resumed.out;
  EXPECT_EQ(other.out, "") << "the first speaks for all";
}

/// Three workers of which one is killed or stopped, in steps of training or in an evaluation.
struct Loss {
  int victim, signal;
  bool evaluating;
};

class Losses : public ProcessesCommand, public ::testing::WithParamInterface<std::vector<Loss>> {
 protected:
  static constexpr int kWorkers = 3, kTimeout = 5;

  void lose(const Loss& loss, const std::string& run) {
    SCOPED_TRACE(testing::Message() << "worker " << loss.victim << ", signal " << loss.signal
                                    << ", evaluating " << loss.evaluating);
    std::vector<std::string> arguments = train_arguments();
    arguments[2] = run;
    const std::vector<std::string> more =
        loss.evaluating ? std::vector<std::string>{"data=synthetic:size=36,count=15,val=300000",
                                                   "epochs=1", "cache=none"}
                        : std::vector<std::string>{"epochs=100000", "eval_every=100000"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.push_back("checkpoint_minutes=1e-6");
    const int port = test::free_port();
    std::vector<std::unique_ptr<test::Running>> workers;
    for (int rank = 0; rank < kWorkers; ++rank) {
      std::vector<std::string> environment = test::worker_environment(rank, kWorkers, port);
      environment.insert(environment.begin(), "SACT_TIMEOUT=" + std::to_string(kTimeout));
      workers.push_back(std::make_unique<test::Running>(
          test::Command{SACT_PROGRAM, arguments, environment, directory_.path()}));
    }
    const auto checkpoint = directory_ / run / "checkpoint.safetensors";
    const auto patience = Clock::now() + std::chrono::minutes(2);
    while (!std::filesystem::exists(checkpoint)) {
      ASSERT_LT(Clock::now(), patience);
      ASSERT_FALSE(workers[0]->ended()) << workers[0]->wait().err;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    // The one step of an epoch is over by then.
    std::this_thread::sleep_for(
        std::chrono::milliseconds(loss.evaluating ? 1000 : 37 * loss.victim));
    workers[size_t(loss.victim)]->send(loss.signal);
    const auto lost = Clock::now();
    for (int rank = 0; rank < kWorkers; ++rank) {
      if (rank == loss.victim) continue;
      const test::Finished left = workers[size_t(rank)]->wait();
      EXPECT_EQ(left.status, 1) << left.err;
      const std::string named = "): worker " + std::to_string(loss.victim) + " has ended or does";
      EXPECT_NE(left.err.find(named), std::string::npos) << rank << ": " << left.err;
    }
    // An exchange may wait for all of the time-out before the roll is called. The evaluation would
    // take minutes.
    const auto most = std::chrono::seconds(loss.evaluating ? kTimeout + 5 : 2 * kTimeout + 10);
    EXPECT_LT(Clock::now() - lost, most);
  }

 private:
  using Clock = std::chrono::steady_clock;
};

/// Two at a time: they wait more than they work.
TEST_P(Losses, AreNamedByTheOthers) {
  std::vector<std::thread> together;
  for (const Loss& loss : GetParam()) {
    together.emplace_back([&, run = "run" + std::to_string(together.size())] { lose(loss, run); });
  }
  for (std::thread& one : together) one.join();
}

INSTANTIATE_TEST_SUITE_P(
    OfProcesses, Losses,
    ::testing::Values(std::vector<Loss>{{1, SIGKILL, false}, {0, SIGKILL, false}},
                      std::vector<Loss>{{2, SIGSTOP, false}, {0, SIGSTOP, false}},
                      std::vector<Loss>{{1, SIGKILL, true}, {0, SIGKILL, true}},
                      std::vector<Loss>{{2, SIGSTOP, true}, {0, SIGSTOP, true}}));

TEST_F(ProcessesCommand, EvaluationOfShardsEqualsThatOfOne) {
  const std::string model = (directory_ / "m.safetensors").string();
  ASSERT_EQ(test::run_sact({"new", "--units", "2,2", "--halting", "sact", "--classes", "10",
                            "--stem", "small", "--width", "4", "--out", model})
                .status,
            0);
  const std::vector<std::string> arguments = {
      "eval",   model,     "--data",    "synthetic:size=32,count=20,val=11",
      "--size", "32",      "--workers", "1",
      "--json", "--batch", "3"};
  const test::Finished whole = test::run_sact(arguments);
  ASSERT_EQ(whole.status, 0) << whole.err;
  const int port = test::free_port();
  const auto first = start(arguments, 0, port), second = start(arguments, 1, port);
  const test::Finished joined = first->wait(), other = second->wait();
  ASSERT_EQ(joined.status, 0) << joined.err;
  EXPECT_EQ(other.status, 0) << other.err;
  EXPECT_EQ(other.out, "");
  const io::Json a = io::Json::parse(whole.out), b = io::Json::parse(joined.out);
  for (const char* key : {"images", "accuracy", "recall5"}) EXPECT_EQ(a.at(key), b.at(key)) << key;
  EXPECT_NEAR(b.at("flops").at("mean").get<double>() / a.at("flops").at("mean").get<double>(), 1,
              1e-12);
}

TEST_F(ProcessesCommand, TwoTrainADetectorAndOneSpeaks) {
  const std::vector<std::string> arguments = {"train-detector",
                                              "--out",
                                              "detector",
                                              "--json",
                                              "--data",
                                              "synthetic:size=64,count=8,val=3",
                                              "train=train",
                                              "val=val",
                                              "shorter_side=64",
                                              "units=1,2,1",
                                              "stem=small",
                                              "unit=basic",
                                              "width=4",
                                              "halting=sact",
                                              "anchor_sizes=16,32",
                                              "proposal_channels=8",
                                              "proposals=10",
                                              "box_batch=8",
                                              "batch=1",
                                              "epochs=2",
                                              "samples=0",
                                              "workers=1"};
  const int port = test::free_port();
  const auto first = start(arguments, 0, port), second = start(arguments, 1, port);
  const test::Finished joined = first->wait(), other = second->wait();
  ASSERT_EQ(joined.status, 0) << joined.err;
  EXPECT_EQ(other.status, 0) << other.err;
  EXPECT_EQ(other.out, "");
  const io::Json result = io::Json::parse(joined.out);
  EXPECT_EQ(result.at("steps"), 8) << "four pictures for each worker in an epoch";
  EXPECT_GE(result.at("AP").get<double>(), 0);
}

TEST_F(ProcessesCommand, MissingVariablesAreOneLine) {
  const test::Finished finished =
      test::Running(
          {SACT_PROGRAM, train_arguments(), {"WORLD_SIZE=2", "RANK=0"}, directory_.path()})
          .wait();
  EXPECT_EQ(finished.status, 1);
  EXPECT_NE(finished.err.find("MASTER_ADDR"), std::string::npos) << finished.err;
  EXPECT_EQ(finished.err.find('\n'), finished.err.size() - 1) << finished.err;
}

}  // namespace
}  // namespace sact
