#include "train/torch/roll_call.h"

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/start.h"

namespace sact::train {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kLinger{1500};  // of worker 0, whose store the others still read
constexpr milliseconds kLongest{9000};

/// What is waited for. All of it together is no more than the time-out.
struct Times {
  explicit Times(milliseconds timeout)
      : look(std::min(milliseconds(500), timeout / 10)),
        grace(std::min(milliseconds(3000), timeout / 4)),
        silence(timeout - grace - 2 * look) {}
  const milliseconds look;     // between two looks
  const milliseconds grace;    // for answers, after a call
  const milliseconds silence;  // before a call
};

std::string key(const char* what, int64_t number) {
  return std::string(what) + " " + std::to_string(number);
}

}  // namespace

struct RollCall::Shared {
  explicit Shared(milliseconds timeout) : times(timeout), heard(Clock::now()) {}

  const Times times;
  std::mutex mutex;
  std::condition_variable changed;
  bool called = false, ended = false, done = false;
  int64_t rolls_begun = 0, rolls_over = 0;
  std::vector<int> missing;                  // of the last roll; then the thread is done
  Clock::time_point heard;                   // when the store last answered
  std::optional<Clock::time_point> doubted;  // since when it does not answer
};

class RollCall::Thread {
 public:
  Thread(std::shared_ptr<Shared> shared, int rank, int size)
      : shared_(std::move(shared)), rank_(rank), size_(size) {}

  void run(const Connect& connect) {
    std::vector<int> missing;
    try {
      store_ = connect();
      while (missing.empty() && wait_for_call()) missing = roll();
    } catch (const std::exception&) {
      missing = {0};  // the store is gone, and worker 0 with it
    }
    const std::lock_guard lock(shared_->mutex);
    shared_->missing = std::move(missing);
    shared_->done = true;
    shared_->changed.notify_all();
  }

 private:
  /// False: this process has no more use for it.
  bool wait_for_call() {
    std::unique_lock lock(shared_->mutex);
    for (bool called = false; !called;) {
      called = shared_->changed.wait_for(lock, shared_->times.look,
                                         [&] { return shared_->called || shared_->ended; });
      if (shared_->ended) return false;
      if (called) break;
      lock.unlock();
      set(key("life", rank_), ++signs_);
      called = store_->check({key("roll", roll_)}) || next_is_silent();
      lock.lock();
      shared_->heard = Clock::now();
      shared_->doubted.reset();
    }
    shared_->called = false;
    ++shared_->rolls_begun;
    return true;
  }

  /// Where this worker itself was stopped, the other has given signs of life meanwhile.
  bool next_is_silent() {
    const std::string life = key("life", (rank_ + 1) % size_);
    if (!store_->check({life})) return false;  // it has not begun
    const std::vector<uint8_t> sign = store_->get(life);
    const auto now = Clock::now();
    if (sign != sign_) seen_ = now;
    sign_ = sign;
    return now - seen_ > shared_->times.silence;
  }

  std::vector<int> roll() {
    set(key("roll", roll_), 1);
    set(key("here", rank_) + key(" in", roll_), 1);
    std::this_thread::sleep_for(shared_->times.grace);
    std::vector<int> missing;
    for (int other = 0; other < size_; ++other) {
      if (!store_->check({key("here", other) + key(" in", roll_)})) missing.push_back(other);
    }
    ++roll_;
    seen_ = Clock::now();
    const std::lock_guard lock(shared_->mutex);
    shared_->missing = missing;
    ++shared_->rolls_over;
    shared_->changed.notify_all();
    return missing;
  }

  void set(const std::string& name, int64_t value) {
    const std::string text = std::to_string(value);
    store_->set(name, std::vector<uint8_t>(text.begin(), text.end()));
  }

  const std::shared_ptr<Shared> shared_;
  const int rank_, size_;
  c10::intrusive_ptr<c10d::Store> store_;
  int64_t signs_ = 0, roll_ = 0;
  std::vector<uint8_t> sign_;  // the last of the next worker, and when it came
  Clock::time_point seen_;
};

RollCall::RollCall(int rank, int size, milliseconds timeout, Connect connect)
    : rank_(rank), shared_(std::make_shared<Shared>(timeout)) {
  thread_ = start_thread([shared = shared_, rank, size, connect = std::move(connect)] {
    Thread(shared, rank, size).run(connect);
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

std::vector<int> RollCall::missing() {
  std::unique_lock lock(shared_->mutex);
  shared_->called = true;
  shared_->changed.notify_all();
  const int64_t roll = shared_->rolls_begun + 1;  // one that is under way began before
  const bool over = shared_->changed.wait_for(
      lock, kLongest, [&] { return shared_->done || shared_->rolls_over >= roll; });
  const std::vector<int> missing = over ? shared_->missing : std::vector<int>{0};
  lock.unlock();
  linger();
  return missing;
}

std::vector<int> RollCall::lost() {
  std::unique_lock lock(shared_->mutex);
  std::vector<int> lost;
  if (shared_->done) {
    lost = shared_->missing;
  } else if (const auto now = Clock::now(); now - shared_->heard > shared_->times.silence) {
    // Worker 0 may be stopped, and the thread wait for its store; or this process was, and the
    // thread has a moment to go on.
    if (!shared_->doubted) shared_->doubted = now;
    if (now - *shared_->doubted > shared_->times.grace) lost = {0};
  }
  lock.unlock();
  if (!lost.empty()) linger();
  return lost;
}

void RollCall::linger() const {
  if (rank_ == 0) std::this_thread::sleep_for(kLinger);
}

}  // namespace sact::train
