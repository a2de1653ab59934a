// Where images wait for processors, and who gets how many of these. A run alone has all of them.
// When there are more images the runs go side by side, each with its share, because threads that
// share a network wait for each other and images do not.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/error.h"

namespace sact::serve {

using Clock = std::chrono::steady_clock;

/// Something that waits for processors.
class Job {
 public:
  virtual ~Job() = default;
  /// Whether it may be part of the same run.
  virtual bool joins(const Job& /*other*/) const { return false; }
  /// Nobody waits for it any more: whoever runs it may stop.
  bool is_over() const { return given_up_ || Clock::now() > deadline; }

  Clock::time_point deadline;
  double queue_ms = 0;         // that it waited
  std::exception_ptr failure;  // of its run

 private:
  friend class Queue;
  Clock::time_point came_;
  std::condition_variable finished_;
  bool done_ = false;
  std::atomic<bool> given_up_ = false;
};
using Jobs = std::vector<std::shared_ptr<Job>>;

/// There is no room: come back later.
class Busy : public Error {
 public:
  using Error::Error;
};
/// It took longer than a request may.
class TooLate : public Error {
 public:
  using Error::Error;
};

struct QueueLimits {
  int waiting = 128;  // jobs
  int batch = 8;      // jobs of one run
};

/// How many jobs were on their way at once, lately: clients that have just been answered come back
/// within a moment, and a run that took all processors meanwhile would be in their way.
class Crowd {
 public:
  /// The most in the last 50 to 100 ms, these included.
  int see(int jobs, Clock::time_point now);

 private:
  Clock::time_point since_;
  int most_ = 0, before_ = 0;
};

class Queue {
 public:
  /// Runs jobs that joined, on this many threads; what it throws is the failure of all.
  using Run = std::function<void(const Jobs& jobs, int threads)>;

  /// `threads` are those that all runs together have.
  Queue(const QueueLimits& limits, int threads, Run run);
  /// By then all places are gone.
  ~Queue();

  /// A request's place: what of it is not done when it goes is given up.
  class Place {
   public:
    Place(Queue& queue, Jobs jobs) : queue_(queue), jobs_(std::move(jobs)) {}
    ~Place() { queue_.give_up(jobs_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    Queue& queue_;
    Jobs jobs_;
  };

  /// Takes all jobs of a request or throws Busy. Requests take turns, job by job.
  [[nodiscard]] Place put(Jobs jobs);
  /// Waits for one. Throws its failure, or TooLate.
  void wait(Job& job);
  int waiting() const;

 private:
  void end();
  /// `together` has room for the jobs of a run: taking them needs no memory.
  void work(Jobs& together);
  /// None when the queue ends.
  void next(Jobs& together, int& threads);
  void give_up(const Jobs& jobs);
  int threads_for_next();

  const QueueLimits limits_;
  const int threads_;
  const Run run_;
  mutable std::mutex mutex_;
  std::condition_variable came_;
  std::list<std::deque<std::shared_ptr<Job>>> requests_;  // jobs of each that wait; none is empty
  int waiting_ = 0, running_ = 0;                         // jobs
  int free_;                                              // threads
  Crowd crowd_;
  bool ended_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace sact::serve
