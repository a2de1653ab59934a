// Time of one step of training (forward, backward, update) of plain and adaptive networks: as
// single launches of plain operations, with fused blocks, and recorded as a CUDA graph.
//
//   build/bench_train_step [--depth 101] [--size 128] [--batch 128] [--device cuda] [--csv FILE]
//
// With --quick only what training uses: fused blocks where there are any, recorded.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>

#include "base/file.h"
#include "base/text.h"
#include "model/initial_weights.h"
#include "report/table.h"
#include "train/classify/step.h"
#include "train/loop/sgd.h"
#include "train/torch/device.h"
#include "train/torch/network_weights.h"
#include "train/torch/precision.h"

namespace sact::train {
namespace {

struct BenchOptions {
  int depth = 101, size = 128, batch = 128, rounds = 5, steps = 20;
  std::string device = "cuda";
  bool quick = false;
};

/// One network with its optimizer and the way its steps are run.
class Candidate {
 public:
  Candidate(std::string name, const BenchOptions& options, Halting halting, bool fused, bool graph)
      : name_(std::move(name)), options_(options) {
    ModelSpec spec;
    spec.units = units_of_depth(options.depth);
    spec.classes = 10;
    spec.halting = halting;
    const torch::Device device = device_from_name(options.device);
    network_ = make_network(spec, initial_weights(spec, {}));
    network_->to(device);
    if (device.is_cuda()) to_channels_last(*network_);
    network_->train();
    network_->use_fused_blocks(fused);
    sgd_ = std::make_unique<Sgd>(network_->named_parameters(), SgdOptions{});
    step_ =
        std::make_unique<TrainingStep>(network_, StepOptions{0.1, 0.005, device.is_cuda(), graph});
    images_ = torch::randn({options.batch, 3, options.size, options.size}).to(device);
    labels_ = torch::randint(0, 10, {options.batch}, torch::kInt64).to(device);
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      sgd_->zero_gradients();
      step_->run(images_, labels_);
      sgd_->step(1e-4);
    }
    if (images_.is_cuda()) torch::cuda::synchronize();
  }

  void measure() {
    run(2);
    const auto start = std::chrono::steady_clock::now();
    run(options_.steps);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    times_.push_back(time.count() / options_.steps);
    std::sort(times_.begin(), times_.end());
  }

  const std::string& name() const { return name_; }
  double median() const { return times_[times_.size() / 2]; }
  double fastest() const { return times_.front(); }
  double slowest() const { return times_.back(); }

 private:
  std::string name_;
  BenchOptions options_;
  Network network_{nullptr};
  std::unique_ptr<Sgd> sgd_;
  std::unique_ptr<TrainingStep> step_;
  torch::Tensor images_, labels_;
  std::vector<double> times_;
};

void bench(const BenchOptions& options, const std::string& csv) {
  std::vector<std::unique_ptr<Candidate>> candidates;
  auto add = [&](const char* name, Halting halting, bool fused, bool graph) {
    if (options.quick && !(fused && graph)) return;
    candidates.push_back(std::make_unique<Candidate>(name, options, halting, fused, graph));
    candidates.back()->run(5);
  };
  add("plain network, single launches", Halting::kNone, false, false);
  add("plain network", Halting::kNone, true, true);
  add("SACT, plain operations, single launches", Halting::kSact, false, false);
  add("SACT, plain operations", Halting::kSact, false, true);
  add("SACT, single launches", Halting::kSact, true, false);
  add("SACT", Halting::kSact, true, true);
  add("ACT", Halting::kAct, true, true);
  for (int round = 0; round < options.rounds; ++round) {
    for (auto& candidate : candidates) candidate->measure();
  }
  const auto plain = std::find_if(candidates.begin(), candidates.end(), [](const auto& candidate) {
    return candidate->name() == "plain network";
  });
  report::Table table;
  table.header = {"step", "median ms", "fastest", "slowest", "of the plain network's"};
  for (const auto& candidate : candidates) {
    table.rows.push_back({candidate->name(), fmt::format("{:.2f}", candidate->median()),
                          fmt::format("{:.2f}", candidate->fastest()),
                          fmt::format("{:.2f}", candidate->slowest()),
                          fmt::format("{:.2f}", candidate->median() / (*plain)->median())});
  }
  std::cout << report::to_text(table);
  if (!csv.empty()) write_file_atomically(csv, report::to_csv(table));
}

}  // namespace
}  // namespace sact::train

int main(int argc, char** argv) {
  CLI::App app("Time of a training step");
  sact::train::BenchOptions options;
  std::string csv;
  app.add_option("--depth", options.depth)->capture_default_str();
  app.add_option("--size", options.size)->capture_default_str();
  app.add_option("--batch", options.batch)->capture_default_str();
  app.add_option("--rounds", options.rounds)->capture_default_str();
  app.add_option("--steps", options.steps)->capture_default_str();
  app.add_option("--device", options.device)->capture_default_str();
  app.add_flag("--quick", options.quick);
  app.add_option("--csv", csv);
  CLI11_PARSE(app, argc, argv);
  try {
    sact::train::bench(options, csv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
