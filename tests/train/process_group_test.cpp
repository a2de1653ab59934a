// Several processes: what the environment says, gradients, whole runs, and leaving blocks early.
// process_group_worker.cpp is what they run.
#include "train/torch/process_group.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <numeric>

#include "base/log.h"
#include "base/random.h"
#include "data/open.h"
#include "detect/coco.h"
#include "io/image.h"
#include "model/initial_weights.h"
#include "report/csv.h"
#include "support/errors.h"
#include "support/program.h"
#include "train/adapt/task.h"
#include "train/classify/evaluation.h"
#include "train/classify/task.h"
#include "train/detect/evaluation.h"
#include "train/detect/task.h"
#include "train/loop/trainer.h"
#include "train/photograph_files.h"
#include "train/process_group_job.h"

namespace sact::train {
namespace {

using Variables = std::map<std::string, std::string>;

ProcessPlace place_of(const Variables& variables) {
  return process_place([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

const Variables kComplete = {
    {"RANK", "1"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "host"}, {"MASTER_PORT", "2345"}};

Variables with(Variables variables, const std::string& name, const std::string& value) {
  variables[name] = value;
  return variables;
}

TEST(ProcessPlace, ComesFromTheEnvironment) {
  EXPECT_EQ(place_of({}).size, 1);
  EXPECT_EQ(place_of({{"WORLD_SIZE", "1"}}).size, 1);
  const ProcessPlace place = place_of(kComplete);
  EXPECT_EQ(place.rank, 1);
  EXPECT_EQ(place.size, 4);
  EXPECT_EQ(place.address, "host");
  EXPECT_EQ(place.port, 2345);
  EXPECT_EQ(place.local_rank, 1);
  const ProcessPlace second =
      place_of(with(with(kComplete, "LOCAL_RANK", "0"), "LOCAL_WORLD_SIZE", "2"));
  EXPECT_EQ(second.local_rank, 0);
  EXPECT_EQ(second.local_size, 2);
}

TEST(ProcessPlace, MistakesNameTheVariable) {
  for (const auto& [name, value] : kComplete) {
    if (name == "WORLD_SIZE") continue;
    Variables incomplete = kComplete;
    incomplete.erase(name);
    const std::string message = test::error_of([&] { place_of(incomplete); });
    EXPECT_NE(message.find(name), std::string::npos) << message;
  }
  const std::vector<std::pair<std::string, std::string>> absurd = {
      {"RANK", "4"}, {"RANK", "-1"}, {"WORLD_SIZE", "0"}, {"MASTER_PORT", "http"}};
  for (const auto& [name, value] : absurd) {
    const std::string message = test::error_of([&] { place_of(with(kComplete, name, value)); });
    EXPECT_NE(message.find(name), std::string::npos) << message;
    EXPECT_NE(message.find(value), std::string::npos) << message;
  }
  test::error_of([&] { place_of({{"RANK", "1"}}); });
}

/// Takes tensors of the meta device only, which the CPU has too, as NCCL takes those of a GPU; all
/// that comes back are ones.
class OnesOnMeta : public Collectives {
 public:
  torch::Device device() const override { return torch::kMeta; }
  std::vector<torch::Tensor> run(Operation, std::vector<torch::Tensor> tensors) override {
    std::vector<torch::Tensor> results;
    for (const torch::Tensor& tensor : tensors) {
      EXPECT_TRUE(tensor.is_meta());
      EXPECT_TRUE(tensor.is_contiguous());
      results.push_back(torch::ones(tensor.sizes(), tensor.scalar_type()));
    }
    return results;
  }
};

ProcessGroup group_on_meta() {
  ProcessPlace place;
  place.size = 2;
  return ProcessGroup(place, torch::kCPU, std::make_unique<OnesOnMeta>());
}

TEST(ProcessGroup, MovesTensorsToWhereTheyCanBeExchangedAndBack) {
  ProcessGroup group = group_on_meta();
  torch::Tensor sums = torch::zeros({2, 3}).t(), most = torch::zeros({4}, torch::kFloat64);
  group.sum(sums);
  group.maximum(most);
  EXPECT_TRUE(sums.is_cpu());
  EXPECT_TRUE(torch::equal(sums, torch::ones({3, 2})));
  EXPECT_TRUE(torch::equal(most, torch::ones({4}, torch::kFloat64)));
  EXPECT_EQ(group.average({most}, {false}), std::vector<bool>{true});
  EXPECT_DOUBLE_EQ(most[0].item<double>(), 0.5);
  EXPECT_TRUE(group.any(false));
  EXPECT_EQ(group.broadcast("x"), "\x01");
  group.barrier();
}

TEST(ProcessGroup, DetectorsAreEvaluatedWhereverTensorsAreExchanged) {
  DetectionSettings settings;
  for (const char* setting :
       {"units=1,1,1", "stem=small", "unit=basic", "width=4", "shorter_side=64", "anchor_sizes=16",
        "anchor_ratios=1", "proposal_channels=8", "proposals=10"}) {
    set_from_text(settings, setting);
  }
  const auto dataset = detect::open_detection_dataset("synthetic:size=64,count=2,val=2", "val");
  const ModelSpec spec = spec_of_run(settings, dataset->class_names());
  data::CorruptSamples corrupt(0);
  ProcessGroup group = group_on_meta();
  const DetectorOutcome outcome =
      evaluate_detector(make_detector(spec, initial_weights(spec)), *dataset, corrupt, group, 1);
  EXPECT_EQ(outcome.pictures, 1) << "the sum that came back";
}

/// What a worker would be asked with these arguments, for a process without others.
TrainRequest alone(const std::vector<std::string>& arguments) {
  TrainRequest request;
  request.run = arguments[0];
  request.threads = 1;
  request.assignments.assign(arguments.begin() + 2, arguments.end());
  return request;
}

class TwoProcesses : public ::testing::Test {
 protected:
  void SetUp() override { set_log_level(LogLevel::kWarning); }
  void TearDown() override { set_log_level(LogLevel::kInfo); }

  std::string output(int rank) { return (directory_ / ("out" + std::to_string(rank))).string(); }

  /// Runs a role in two processes; `second` are the arguments of worker 1 where they differ.
  std::vector<test::Finished> run(const std::string& role, const std::vector<std::string>& first,
                                  std::vector<std::string> second = {}) {
    if (second.empty()) second = first;
    std::vector<std::vector<std::string>> arguments = {{role, output(0)}, {role, output(1)}};
    arguments[0].insert(arguments[0].end(), first.begin(), first.end());
    arguments[1].insert(arguments[1].end(), second.begin(), second.end());
    return test::run_together(SACT_PROCESS_GROUP_WORKER, arguments);
  }

  void expect_success(const std::vector<test::Finished>& finished) {
    for (const test::Finished& worker : finished) EXPECT_EQ(worker.status, 0) << worker.err;
  }

  std::string text(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  std::vector<torch::Tensor> tensors(const std::string& path) {
    std::vector<torch::Tensor> list;
    torch::load(list, path);
    return list;
  }

  /// The arguments of the role "train".
  std::vector<std::string> training(const std::string& run, int stop,
                                    const std::vector<std::string>& changes = {}) {
    std::vector<std::string> arguments = {(directory_ / run).string(), std::to_string(stop)};
    arguments.insert(arguments.end(), {"data=" + data_, "units=2,2", "stem=small", "unit=basic",
                                       "width=4", "size=32", "halting=sact", "epochs=2", "batch=5",
                                       "samples=1", "workers=1", "cache=none"});
    arguments.insert(arguments.end(), changes.begin(), changes.end());
    return arguments;
  }

  test::TemporaryDirectory directory_;
  const std::string data_ = "synthetic:size=36,count=40,val=21";
};

double relative_difference(const torch::Tensor& a, const torch::Tensor& b) {
  return ((a - b).norm() / b.norm()).item<double>();
}

TEST_F(TwoProcesses, WithJoinedNormsGradientsAreThoseOfTheJoinedBatch) {
  expect_success(run("gradients", {"joined"}));
  Network network = test::job_network();
  test::job_backward(network, test::job_images(), test::job_labels());
  for (int rank : {0, 1}) {
    const auto found = tensors(output(rank));
    EXPECT_LT(relative_difference(found[0], test::joined_gradients(network)), 1e-10);
    EXPECT_LT(relative_difference(found[1], test::joined_averages(network)), 1e-10);
  }
}

TEST_F(TwoProcesses, WithOwnNormsGradientsAreTheMeanOverWorkers) {
  expect_success(run("gradients", {"own"}));
  torch::Tensor mean;
  for (int64_t rank : {0, 1}) {
    Network network = test::job_network();
    test::job_backward(network, test::job_images().chunk(2)[size_t(rank)],
                       test::job_labels().chunk(2)[size_t(rank)]);
    const torch::Tensor half = test::joined_gradients(network) / 2;
    mean = mean.defined() ? mean + half : half;
  }
  for (int rank : {0, 1}) {
    EXPECT_LT(relative_difference(tensors(output(rank))[0], mean), 1e-10);
  }
}

TEST_F(TwoProcesses, LeaveBlocksAloneInInferenceAndTogetherInTraining) {
  expect_success(run("units", {"inference"}));
  EXPECT_EQ(text(output(0)), "1 1 ");
  EXPECT_EQ(text(output(1)), "3 2 ");
  expect_success(run("units", {"training"}));
  EXPECT_EQ(text(output(0)), "3 2 ");
  EXPECT_EQ(text(output(1)), "3 2 ");
}

TEST_F(TwoProcesses, TrainOneNetworkAndEvaluateItExactly) {
  expect_success(run("train", training("run", 0)));
  EXPECT_EQ(text(output(0)), text(output(1)));
  const auto first = tensors(output(0) + ".weights"), second = tensors(output(1) + ".weights");
  ASSERT_EQ(first.size(), second.size());
  for (size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(torch::equal(first[i], second[i])) << i;

  const auto dataset = data::open_dataset(data_, "val", {});
  DeviceLoaderOptions options;
  options.storage_size = 36;
  DeviceLoader loader(*dataset, options);
  ProcessGroup alone;
  const EvalOutcome expected =
      evaluate(load_network(ModelFile(directory_ / "run/last.safetensors")), loader, alone,
               {.size = {32, 32}, .batch = 5});
  std::istringstream found(text(output(0)));
  int64_t finished = 0, steps = 0, images = 0;
  std::string accuracy, recall5, flops;
  found >> finished >> steps >> images >> accuracy >> recall5 >> flops;
  EXPECT_EQ(finished, 1);
  EXPECT_EQ(steps, 8);
  EXPECT_EQ(images, 21);
  const report::CsvColumns confusion = report::read_csv(directory_ / "run/confusion.csv");
  const std::vector<double>& counts = *confusion.find("images");
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0.0), 21) << "of both workers";
  EXPECT_EQ(std::stod(accuracy), expected.accuracy);
  EXPECT_EQ(std::stod(recall5), expected.recall5);
  EXPECT_NEAR(std::stod(flops) / expected.flops.mean, 1, 1e-12);
}

TEST_F(TwoProcesses, StopTogetherAndResumeToTheSameBits) {
  expect_success(run("train", training("whole", 0)));
  const auto expected = tensors(output(0) + ".weights");
  expect_success(run("train", training("stopped", 0), training("stopped", 3)));
  for (int rank : {0, 1}) EXPECT_EQ(text(output(rank)).substr(0, 4), "0 3 ") << rank;
  expect_success(run("train", training("stopped", 0)));
  const auto found = tensors(output(1) + ".weights");
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(torch::equal(found[i], expected[i])) << i;
  EXPECT_EQ(text((directory_ / "whole/last.safetensors").string()),
            text((directory_ / "stopped/last.safetensors").string()));

  // The same run with another number of processes would be another run.
  TrainRequest alone;
  alone.run = (directory_ / "stopped").string();
  alone.assignments = {"epochs=3"};  // the run is finished, and would have nothing to do
  const std::string message = test::error_of([&] {
    ClassifierTask task;
    run_training(task, alone);
  });
  EXPECT_NE(message.find("2 processes"), std::string::npos) << message;
}

TEST_F(TwoProcesses, AdaptANetworkAsOneDoesWithTheJoinedBatch) {
  test::write_dense(directory_ / "dense.safetensors", test::small_dense_spec());
  test::write_photographs(directory_ / "photos", 22);
  auto arguments = [&](const std::string& run, int batch) {
    return std::vector<std::string>{(directory_ / run).string(),
                                    "0",
                                    "init=" + (directory_ / "dense.safetensors").string(),
                                    "images=" + (directory_ / "photos").string(),
                                    "batch=" + std::to_string(batch),
                                    "epochs=3",
                                    "rate=0.01",
                                    "halting_rate=30",
                                    "budget=0.7",
                                    "steering=2",
                                    "scores=soft",  // noise is of a process, and so not the same
                                    "workers=1",
                                    "samples=0"};
  };
  expect_success(run("adapt", arguments("two", 5)));
  const auto first = tensors(output(0) + ".weights"), second = tensors(output(1) + ".weights");
  AdaptTask task;
  run_training(task, alone(arguments("one", 10)));
  const auto expected = task.network()->parameters();
  ASSERT_EQ(first.size(), expected.size());
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_TRUE(torch::equal(first[i], second[i])) << i;
    EXPECT_LT((first[i] - expected[i]).abs().max().item<double>(), 1e-4) << i;
  }
  const auto two = report::read_csv(directory_ / "two/log.csv"),
             one = report::read_csv(directory_ / "one/log.csv");
  for (const char* column : {"tau", "train_share", "val_kl", "share"}) {
    EXPECT_NEAR(two.find(column)->back(), one.find(column)->back(),
                1e-3 * one.find(column)->back() + 1e-6)
        << column;
  }
}

/// Pictures of four shapes with an object each, and their annotations.
void write_detection_data(const std::filesystem::path& folder, int count) {
  detect::CocoInstances instances{"", {{1, "thing"}, {2, "other"}}, {}, {}};
  std::filesystem::create_directories(folder / "annotations");
  std::filesystem::create_directories(folder / "all");
  const std::vector<Size> sizes = {{64, 80}, {64, 64}, {90, 64}, {64, 99}};
  Random random(1);
  for (int64_t id = 1; id <= count; ++id) {
    const Size size = sizes[size_t(id) % sizes.size()];
    const std::string name = fmt::format("{}.png", id);
    io::RgbImage image(size.width, size.height);
    for (uint8_t& value : image.rgb) value = uint8_t(random.below(256));
    instances.images.push_back({id, name, size});
    io::write_image(folder / "all" / name, image);
    const double side = 20 + double(id % 7) * 5;
    instances.objects.push_back({id, id, 1 + id % 2, {3, 4, side, side}, side * side, false});
  }
  detect::write_coco_instances(folder / "annotations/instances_all.json", instances);
}

TEST_F(TwoProcesses, TrainADetectorAsOneDoesWithTheJoinedBatch) {
  write_detection_data(directory_ / "coco", 17);
  auto arguments = [&](const std::string& run, int batch) {
    return std::vector<std::string>{(directory_ / run).string(),
                                    "0",
                                    "data=" + (directory_ / "coco").string(),
                                    "train=all",
                                    "val=all",
                                    "units=1,2,1",
                                    "stem=small",
                                    "unit=basic_v1",
                                    "width=4",
                                    "halting=sact",
                                    "shorter_side=64",
                                    "train_sides=64,48",
                                    "anchor_sizes=16,32",
                                    "anchor_ratios=1",
                                    "proposal_channels=8",
                                    "proposals=10",
                                    "box_batch=8",
                                    "anchor_batch=16",
                                    "epochs=2",
                                    "rate=0.02",
                                    "batch=" + std::to_string(batch),
                                    "samples=0",
                                    "workers=1"};
  };
  expect_success(run("detect", arguments("two", 2)));
  const auto first = tensors(output(0) + ".weights"), second = tensors(output(1) + ".weights");
  DetectorTask task;
  EXPECT_EQ(run_training(task, alone(arguments("one", 4))).steps, 8);
  const auto expected = task.module().parameters();
  const ModelSpec& spec = task.detector()->spec();
  Detector fresh = make_detector(spec, initial_weights(spec));
  const auto before = fresh->parameters();
  ASSERT_EQ(first.size(), expected.size());
  double moved = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_TRUE(torch::equal(first[i], second[i])) << i;
    EXPECT_LT((first[i] - expected[i]).abs().max().item<double>(), 2e-5) << i;
    moved = std::max(moved, (expected[i] - before[i]).abs().max().item<double>());
  }
  EXPECT_GT(moved, 1e-2) << "there was something to agree on";
  const auto two = report::read_csv(directory_ / "two/log.csv"),
             one = report::read_csv(directory_ / "one/log.csv");
  for (const char* column : {"loss", "loss_box", "AP", "AP50", "flops", "units_2"}) {
    EXPECT_NEAR(two.find(column)->back(), one.find(column)->back(),
                1e-3 * one.find(column)->back() + 1e-6)
        << column;
  }
}

TEST_F(TwoProcesses, OtherSettingsOfAWorkerAreNamed) {
  const auto finished = run("train", training("run", 0), training("run", 0, {"rate=0.2"}));
  for (const test::Finished& worker : finished) {
    EXPECT_EQ(worker.status, 1);
    EXPECT_NE(worker.err.find("other settings"), std::string::npos) << worker.err;
  }
  EXPECT_NE(finished[1].err.find("rate: 0.05 -> 0.2"), std::string::npos) << finished[1].err;
}

}  // namespace
}  // namespace sact::train
