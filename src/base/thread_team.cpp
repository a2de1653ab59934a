#include "base/thread_team.h"

#include <pthread.h>
#include <sched.h>

#include "base/error.h"
#include "base/start.h"

namespace sact {
namespace {

constexpr int kLooks = 4000;
constexpr uint32_t kEnd = 0x80000000u;

/// Waits until the value is no longer `old`; returns the new one.
template <typename T>
T wait_for_change(const std::atomic<T>& value, T old) {
  for (int look = 0; look < kLooks; ++look) {
    const T now = value.load(std::memory_order_acquire);
    if (now != old) return now;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  for (;;) {
    const T now = value.load(std::memory_order_acquire);
    if (now != old) return now;
    value.wait(old, std::memory_order_acquire);
  }
}

}  // namespace

struct ThreadTeam::Processors {
  cpu_set_t allowed;
  int callers = -1;  // the one that helpers are kept off
};

ThreadTeam::ThreadTeam(int size) {
  SACT_ASSERT(size >= 1);
  auto processors = std::make_unique<Processors>();
  CPU_ZERO(&processors->allowed);
  const bool known = sched_getaffinity(0, sizeof processors->allowed, &processors->allowed) == 0;
  if (known && CPU_COUNT(&processors->allowed) >= size) processors_ = std::move(processors);
  try {
    for (int part = 1; part < size; ++part) {
      start_thread(helpers_, [this, part] { help(part); });
    }
  } catch (...) {
    end();
    throw;
  }
}

ThreadTeam::~ThreadTeam() {
  end();
}

void ThreadTeam::end() {
  started_.fetch_or(kEnd, std::memory_order_release);
  started_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void ThreadTeam::keep_apart() {
  if (!processors_) return;
  const int mine = sched_getcpu();
  if (mine < 0 || mine == processors_->callers) return;
  processors_->callers = mine;
  cpu_set_t others = processors_->allowed;
  CPU_CLR(mine, &others);
  // Where it is refused, the threads run as the system likes.
  for (std::thread& helper : helpers_) {
    static_cast<void>(pthread_setaffinity_np(helper.native_handle(), sizeof others, &others));
  }
}

void ThreadTeam::start(const Job& job) {
  SACT_ASSERT(job.parts >= 1 && job.parts <= size());
  keep_apart();
  job_ = job;
  unfinished_.store(int(helpers_.size()), std::memory_order_relaxed);
  const uint32_t number = (started_.load(std::memory_order_relaxed) + 1) & ~kEnd;
  started_.store(number, std::memory_order_release);
  started_.notify_all();
  job.call(job.work, 0);
  for (int left = unfinished_.load(std::memory_order_acquire); left > 0;) {
    left = wait_for_change(unfinished_, left);
  }
}

void ThreadTeam::barrier() {
  if (job_.parts == 1) return;
  const uint32_t number = barriers_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == job_.parts) {
    arrived_.store(0, std::memory_order_relaxed);
    barriers_.store(number + 1, std::memory_order_release);
    barriers_.notify_all();
  } else {
    wait_for_change(barriers_, number);
  }
}

void ThreadTeam::help(int part) {
  uint32_t seen = 0;
  for (;;) {
    seen = wait_for_change(started_, seen);
    if (seen & kEnd) return;
    if (part < job_.parts) job_.call(job_.work, part);
    if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_one();
  }
}

}  // namespace sact
