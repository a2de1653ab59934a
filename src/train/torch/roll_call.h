// Who of several processes still answers, when contact with one is lost: Gloo and NCCL say that
// something is wrong, but not which worker it is.
#pragma once

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

/// A thread in each process looks twice a second whether somebody calls, and then answers; a
/// process that has ended, or was stopped, does not. All find out together, so that one that
/// notices later than the others knows as much.
class RollCall {
 public:
  using Connect = std::function<c10::intrusive_ptr<c10d::Store>()>;

  /// `connect` opens a connection of its own to the store, which worker 0 has.
  RollCall(int rank, int size, Connect connect);
  ~RollCall();
  RollCall(const RollCall&) = delete;
  RollCall& operator=(const RollCall&) = delete;

  /// Calls all, waits some seconds, and returns those that do not answer.
  std::vector<int> missing();

 private:
  struct Shared;
  static void answer(const std::shared_ptr<Shared>& shared, int rank, int size,
                     const Connect& connect);

  const int rank_;
  std::shared_ptr<Shared> shared_;  // with the thread, which may outlive this object
  std::thread thread_;
};

}  // namespace sact::train
