#include "train/torch/roll_call.h"

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>

namespace sact::train {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLook{500};     // between two looks
constexpr milliseconds kGrace{3000};   // for answers, after a call
constexpr milliseconds kLinger{1500};  // of worker 0, whose store the others still read
constexpr milliseconds kLongest{9000};
constexpr char kCall[] = "roll call";

std::string answer_of(int rank) {
  return std::string(kCall) + " " + std::to_string(rank);
}

}  // namespace

struct RollCall::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  bool called = false, ended = false, done = false;
  std::vector<int> missing;
};

RollCall::RollCall(int rank, int size, Connect connect)
    : rank_(rank), shared_(std::make_shared<Shared>()) {
  thread_ = std::thread([shared = shared_, rank, size, connect = std::move(connect)] {
    answer(shared, rank, size, connect);
  });
}

RollCall::~RollCall() {
  std::unique_lock lock(shared_->mutex);
  shared_->ended = true;
  shared_->changed.notify_all();
  // A store that no longer answers would keep the thread, and this process with it.
  const bool done = shared_->changed.wait_for(lock, kLinger, [&] { return shared_->done; });
  lock.unlock();
  if (done) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void RollCall::answer(const std::shared_ptr<Shared>& shared, int rank, int size,
                      const Connect& connect) {
  std::vector<int> missing;
  try {
    const auto store = connect();
    std::unique_lock lock(shared->mutex);
    for (bool called = false; !called && !shared->ended;) {
      shared->changed.wait_for(lock, kLook, [&] { return shared->called || shared->ended; });
      called = shared->called;
      if (called || shared->ended) break;
      lock.unlock();
      called = store->check({kCall});
      lock.lock();
    }
    const bool ended = shared->ended;
    lock.unlock();
    if (!ended) {
      for (const std::string& key : {std::string(kCall), answer_of(rank)}) {
        store->set(key, std::vector<uint8_t>{1});
      }
      std::this_thread::sleep_for(kGrace);
      for (int other = 0; other < size; ++other) {
        if (!store->check({answer_of(other)})) missing.push_back(other);
      }
    }
  } catch (const std::exception&) {
    missing = {0};  // the store is gone, and worker 0 with it
  }
  const std::lock_guard lock(shared->mutex);
  shared->missing = std::move(missing);
  shared->done = true;
  shared->changed.notify_all();
}

std::vector<int> RollCall::missing() {
  std::unique_lock lock(shared_->mutex);
  shared_->called = true;
  shared_->changed.notify_all();
  if (!shared_->changed.wait_for(lock, kLongest, [&] { return shared_->done; })) return {0};
  const std::vector<int> missing = shared_->missing;
  lock.unlock();
  if (rank_ == 0) std::this_thread::sleep_for(kLinger);
  return missing;
}

}  // namespace sact::train
