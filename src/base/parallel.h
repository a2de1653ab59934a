// Independent jobs on several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>

#include "base/thread_team.h"
#include "base/threads.h"

namespace sact {

/// Calls job(i) once for each i of [0, count), each on whatever thread is free; `threads` 0: all.
/// An exception ends the work; of several that of the lowest i is thrown, so that an error is the
/// same every time.
template <typename Job>
void run_in_parallel(size_t count, int threads, const Job& job) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  size_t failed = count;
  std::exception_ptr error;
  ThreadTeam team(int(std::clamp<size_t>(count, 1, size_t(thread_count(threads)))));
  team.run(team.size(), [&](int) {
    for (size_t i = next++; i < count; i = next++) {
      try {
        job(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i < failed) {
          failed = i;
          error = std::current_exception();
        }
        next = count;
        return;
      }
    }
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace sact
