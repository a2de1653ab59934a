// Several processes, on one machine or many, that work on one job: how they find each other and
// what they exchange. c10d of LibTorch does the work, with Gloo on the CPU and NCCL on CUDA.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "train/torch/libtorch.h"

namespace sact::train {

/// Where a process stands among the others, as the environment says it.
struct ProcessPlace {
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;  // on this machine
  std::string address;                 // of worker 0
  int port = 0;
  double timeout_seconds = 600;
};

/// Reads RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT and, where they are there, LOCAL_RANK,
/// LOCAL_WORLD_SIZE and SACT_TIMEOUT through `variable`, which gives nullptr for one that is not
/// set. Without WORLD_SIZE the process is alone. Throws sact::Error for what makes no sense.
ProcessPlace process_place(const std::function<const char*(const char*)>& variable);

/// What carries tensors between processes.
class Collectives {
 public:
  enum class Operation { kSum, kMaximum, kBroadcast };

  virtual ~Collectives() = default;
  /// Where tensors must lie.
  virtual torch::Device device() const = 0;
  /// The workers that do not answer any more, asked when run() has failed; none where that cannot
  /// be told.
  virtual std::vector<int> missing() { return {}; }
  /// Those that are known not to answer any more, without asking them.
  virtual std::vector<int> lost() { return {}; }
  /// For each tensor, which is contiguous and lies on device(), the sum or maximum over all
  /// processes, or what worker 0 has.
  virtual std::vector<torch::Tensor> run(Operation operation,
                                         std::vector<torch::Tensor> tensors) = 0;
};

/// The group of processes that this one belongs to. Every member must make the same calls in the
/// same order. All calls wait for the others, and throw sact::Error when one of them has ended or
/// does not answer in time. A process that is alone returns from all of them at once.
class ProcessGroup {
 public:
  /// Alone, on this device.
  explicit ProcessGroup(torch::Device device = torch::kCPU);
  /// One of several, which are connected already.
  ProcessGroup(const ProcessPlace& place, torch::Device device,
               std::unique_ptr<Collectives> collectives);
  /// Joins the others that the environment names, after waiting for all of them. On CUDA each
  /// process of a machine takes a GPU of its own. All but the first log warnings only.
  static ProcessGroup from_environment(torch::Device device);
  ~ProcessGroup();
  ProcessGroup(ProcessGroup&&) noexcept;
  ProcessGroup& operator=(ProcessGroup&&) noexcept;

  int rank() const { return place_.rank; }
  int size() const { return place_.size; }
  bool alone() const { return size() == 1; }
  /// Whether this is the one that writes files and speaks to the user.
  bool first() const { return rank() == 0; }
  torch::Device device() const { return device_; }
  /// Processes on this machine, which share its memory and processors.
  int local_size() const { return place_.local_size; }
  /// The number of threads asked for, or for 0 this process's share of those available.
  int threads(int asked) const;

  // Tensors may lie on any device: they are moved to where they can be exchanged, and back.

  /// Replaces the values by their sums, or by the largest, over all processes.
  void sum(torch::Tensor& tensor);
  void maximum(torch::Tensor& tensor);

  /// Replaces the values by their means over all processes, in few large messages. What is agreed
  /// in the same step travels with them: returns, for each flag, whether any process raised it.
  std::vector<bool> average(const std::vector<torch::Tensor>& tensors,
                            const std::vector<bool>& flags = {});

  /// Replaces the values by those of worker 0.
  void broadcast(const std::vector<torch::Tensor>& tensors);
  std::string broadcast(const std::string& text);

  /// Whether it is true in any process.
  bool any(bool condition);
  void barrier();

  /// For long work without an exchange, between its parts: throws sact::Error where another process
  /// has ended, or has not answered for the time-out. Waits for nobody.
  void expect_others();

 private:
  void exchange(Collectives::Operation operation, const std::vector<torch::Tensor>& tensors);
  [[noreturn]] void fail_without(const std::vector<int>& missing, const std::string& reason) const;

  ProcessPlace place_;
  torch::Device device_;
  std::unique_ptr<Collectives> collectives_;  // null: alone
};

}  // namespace sact::train
