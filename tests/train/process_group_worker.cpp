// One of several processes, for process_group_test.cpp: process_group_worker ROLE OUTPUT [...]
#include <cstdio>
#include <fstream>

#include "base/log.h"
#include "train/adapt/task.h"
#include "train/classify/task.h"
#include "train/detect/task.h"
#include "train/loop/trainer.h"
#include "train/process_group_job.h"
#include "train/torch/process_group.h"

namespace sact::train {
namespace {

using Arguments = std::vector<std::string>;

/// Gradients of this worker's part of the images, averaged with the others'.
void gradients(const std::string& output, const Arguments& arguments) {
  ProcessGroup group = ProcessGroup::from_environment(torch::kCPU);
  Network network = test::job_network();
  if (arguments.at(0) == "joined") network->synchronise_norms(group);
  const auto part = [&](const torch::Tensor& all) {
    return all.chunk(group.size())[size_t(group.rank())];
  };
  test::job_backward(network, part(test::job_images()), part(test::job_labels()));
  std::vector<torch::Tensor> tensors;
  for (const torch::Tensor& parameter : network->parameters()) tensors.push_back(parameter.grad());
  const std::vector<bool> raised =
      group.average(tensors, {group.rank() == 1, false, group.first()});
  if (raised != std::vector<bool>{true, false, true}) std::abort();
  torch::save(
      std::vector<torch::Tensor>{test::joined_gradients(network), test::joined_averages(network)},
      output);
}

/// Units that each block evaluates when worker 0 may stop after one and the others after all.
void units(const std::string& output, const Arguments& arguments) {
  torch::NoGradGuard no_grad;
  ProcessGroup group = ProcessGroup::from_environment(torch::kCPU);
  Network network = test::job_network();
  for (auto& item : network->named_parameters()) {
    if (item.key().find("halting.global.bias") != std::string::npos) {
      item.value().fill_(group.first() ? 40 : -40);
    }
  }
  network->synchronise_norms(group);
  network->train(arguments.at(0) == "training");
  const NetworkOutput found = network->forward(test::job_images(), {.early_exit = true});
  group.barrier();
  std::ofstream file(output);
  for (const BlockOutput& block : found.blocks) file << block.evaluated_units << ' ';
}

/// A training run that this worker interrupts after `stop` steps (0: never).
template <typename AnyTask>
TrainOutcome run(AnyTask& task, const std::string& output, const Arguments& arguments) {
  set_log_level(LogLevel::kQuiet);
  TrainRequest request;
  request.run = arguments.at(0);
  request.threads = 1;
  const int stop = std::stoi(arguments.at(1));
  int asked = 0;
  if (stop > 0) request.interrupted = [&] { return ++asked >= stop; };
  request.assignments.assign(arguments.begin() + 2, arguments.end());
  const TrainOutcome result = run_training(task, request);
  torch::save(task.module().parameters(), output + ".weights");
  return result;
}

void train_detector(const std::string& output, const Arguments& arguments) {
  DetectorTask task;
  run(task, output, arguments);
}

void adapt(const std::string& output, const Arguments& arguments) {
  AdaptTask task;
  run(task, output, arguments);
}

void train(const std::string& output, const Arguments& arguments) {
  ClassifierTask task;
  const TrainOutcome result = run(task, output, arguments);
  const EvalOutcome& last = task.last_evaluation();
  std::ofstream(output) << result.finished << ' ' << result.steps << ' ' << last.images << ' '
                        << std::hexfloat << last.accuracy << ' ' << last.recall5 << ' '
                        << last.flops.mean;
}

}  // namespace
}  // namespace sact::train

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::vector<std::string> rest(arguments.begin() + 2, arguments.end());
  try {
    if (arguments[0] == "gradients") sact::train::gradients(arguments[1], rest);
    if (arguments[0] == "units") sact::train::units(arguments[1], rest);
    if (arguments[0] == "train") sact::train::train(arguments[1], rest);
    if (arguments[0] == "detect") sact::train::train_detector(arguments[1], rest);
    if (arguments[0] == "adapt") sact::train::adapt(arguments[1], rest);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
