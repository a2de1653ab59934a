// Independent jobs on several threads whose results are taken one by one, in the order of the jobs.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/start.h"

namespace sact {

/// Calls make(thread, i) for the jobs i of [0, count) on `threads` threads, and take(i, result) for
/// each result on the calling thread: in the order of i, and as soon as those before it were taken.
/// No job starts that is far ahead of the last one taken, so that memory stays bounded.
///
/// Before a job starts, stop() is asked; once it says true no other starts, and those that have
/// started are finished and taken. Returns how many were taken.
///
/// While nothing is ready to be taken, idle() is called on the calling thread now and then.
///
/// An exception of make(thread, i) is thrown when i would be taken; it and one of take() end the
/// work.
template <typename Make, typename Take, typename Stop, typename Idle>
size_t run_in_order(size_t count, int threads, const Make& make, const Take& take, const Stop& stop,
                    const Idle& idle) {
  using Result = decltype(make(0, size_t{0}));
  struct Slot {
    std::optional<Result> result;
    std::exception_ptr error;
    bool done = false;
  };
  constexpr std::chrono::milliseconds kIdle{500};
  const size_t ahead = 4 * size_t(threads);
  std::vector<Slot> slots(std::min(count, ahead));  // job i has slot i % ahead
  std::mutex mutex;
  std::condition_variable made, room;
  size_t started = 0, taken = 0;
  bool ended = false;  // no job starts any more

  const auto next_job = [&]() -> std::optional<size_t> {
    std::unique_lock lock(mutex);
    room.wait(lock, [&] { return ended || started == count || started < taken + ahead; });
    if (!ended && stop()) ended = true;
    if (ended || started == count) {
      made.notify_one();
      room.notify_all();
      return std::nullopt;
    }
    return started++;
  };
  const auto work = [&](int thread) {
    while (const std::optional<size_t> job = next_job()) {
      Slot slot;
      try {
        slot.result.emplace(make(thread, *job));
      } catch (...) {
        slot.error = std::current_exception();
      }
      slot.done = true;
      const std::lock_guard lock(mutex);
      slots[*job % ahead] = std::move(slot);
      made.notify_one();
    }
  };

  std::vector<std::thread> workers;
  const auto end = [&] {
    {
      const std::lock_guard lock(mutex);
      ended = true;
    }
    room.notify_all();
    for (std::thread& worker : workers) worker.join();
  };
  try {
    for (int thread = 0; thread < threads; ++thread) {
      start_thread(workers, [&work, thread] { work(thread); });
    }
    for (;;) {
      std::unique_lock lock(mutex);
      const auto ready = [&] { return taken < started && slots[taken % ahead].done; };
      const auto at_end = [&] { return taken == started && (ended || started == count); };
      while (!made.wait_for(lock, kIdle, [&] { return ready() || at_end(); })) {
        lock.unlock();
        idle();
        lock.lock();
      }
      if (!ready()) break;
      Slot slot = std::exchange(slots[taken % ahead], {});
      lock.unlock();
      if (slot.error) std::rethrow_exception(slot.error);
      take(taken, std::move(*slot.result));
      lock.lock();
      ++taken;
      room.notify_one();
    }
  } catch (...) {
    end();
    throw;
  }
  end();
  return taken;
}

}  // namespace sact
