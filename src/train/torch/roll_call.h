// Who of several processes still answers: Gloo and NCCL say that something is wrong, but not which
// worker it is, and only where something is exchanged.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "train/torch/libtorch.h"

namespace c10d {
class Store;
}

namespace sact::train {

/// A thread in each process gives a sign of life twice a second, looks whether the next worker
/// does, and whether somebody calls the roll; then it answers. A process that has ended, or was
/// stopped, does not. The roll is called where an exchange has failed, and where a sign of life is
/// missing for so long that the answers are there by the end of the time-out. All find out
/// together, so that one that notices later than the others knows as much.
class RollCall {
 public:
  using Connect = std::function<c10::intrusive_ptr<c10d::Store>()>;

  /// `connect` opens a connection of its own to the store, which worker 0 has.
  RollCall(int rank, int size, std::chrono::milliseconds timeout, Connect connect);
  ~RollCall();
  RollCall(const RollCall&) = delete;
  RollCall& operator=(const RollCall&) = delete;

  /// Calls all, waits some seconds, and returns those that do not answer.
  std::vector<int> missing();

  /// Those that are known to be lost. Returns at once where there are none.
  std::vector<int> lost();

 private:
  struct Shared;
  class Thread;

  void linger() const;

  const int rank_;
  std::shared_ptr<Shared> shared_;  // with the thread, which may outlive this object
  std::thread thread_;
};

}  // namespace sact::train
