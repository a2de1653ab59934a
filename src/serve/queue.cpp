#include "serve/queue.h"

#include <algorithm>

#include "base/start.h"

namespace sact::serve {

int Crowd::see(int jobs, Clock::time_point now) {
  constexpr auto kSpan = std::chrono::milliseconds(50);
  if (now - since_ >= kSpan) {
    before_ = now - since_ < 2 * kSpan ? most_ : 0;
    most_ = 0;
    since_ = now;
  }
  most_ = std::max(most_, jobs);
  return std::max(most_, before_);
}

Queue::Queue(const QueueLimits& limits, int threads, Run run)
    : limits_(limits), threads_(threads), run_(std::move(run)), free_(threads) {
  try {
    for (int i = 0; i < threads; ++i) {
      Jobs room;
      room.reserve(size_t(limits.batch));
      start_thread(workers_, [this, room = std::move(room)]() mutable { work(room); });
    }
  } catch (...) {
    end();
    throw;
  }
}

Queue::~Queue() {
  end();
}

void Queue::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  came_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

int Queue::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

Queue::Place Queue::put(Jobs jobs) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_ + jobs.size() > size_t(limits_.waiting)) {
      throw Busy(fmt::format("{} images are waiting already; try again", waiting_));
    }
    for (const auto& job : jobs) job->came_ = Clock::now();
    if (!jobs.empty()) requests_.emplace_back(jobs.begin(), jobs.end());
    waiting_ += int(jobs.size());
    crowd_.see(waiting_ + running_, Clock::now());
  }
  came_.notify_one();
  return {*this, std::move(jobs)};
}

void Queue::wait(Job& job) {
  std::unique_lock lock(mutex_);
  if (!job.finished_.wait_until(lock, job.deadline, [&] { return job.done_; })) {
    throw TooLate("the server had no time for this; try again");
  }
  if (job.failure) std::rethrow_exception(job.failure);
}

void Queue::give_up(const Jobs& jobs) {
  const std::lock_guard lock(mutex_);
  for (const auto& job : jobs) job->given_up_ = true;
  for (auto request = requests_.begin(); request != requests_.end();) {
    waiting_ -= int(std::erase_if(*request, [](const auto& job) { return job->given_up_.load(); }));
    request = request->empty() ? requests_.erase(request) : std::next(request);
  }
}

/// A half, a quarter, ...: of every number of threads there are sessions with memory of their own.
int Queue::threads_for_next() {
  const int crowd = crowd_.see(waiting_ + running_, Clock::now());
  const int most = std::min(std::max(1, threads_ / crowd), free_);
  int threads = threads_;
  while (threads > most) threads = std::max(1, threads / 2);
  return threads;
}

void Queue::next(Jobs& together, int& threads) {
  std::unique_lock lock(mutex_);
  came_.wait(lock, [&] { return waiting_ > 0 ? free_ > 0 : ended_; });
  if (waiting_ == 0) return;
  threads = threads_for_next();
  // Those that run beside this one shall have as many.
  const int runs = threads_ / threads;
  const size_t most = size_t(std::clamp((waiting_ + runs - 1) / runs, 1, limits_.batch));
  for (auto request = requests_.begin(); request != requests_.end() && together.size() < most;) {
    const auto here = request++;
    if (!together.empty() && !here->front()->joins(*together.front())) continue;
    together.push_back(std::move(here->front()));
    here->pop_front();
    if (here->empty()) {
      requests_.erase(here);
    } else {
      requests_.splice(requests_.end(), requests_, here);
      if (request == requests_.end()) request = here;
    }
  }
  for (const auto& job : together) {
    job->queue_ms = std::chrono::duration<double, std::milli>(Clock::now() - job->came_).count();
  }
  waiting_ -= int(together.size());
  running_ += int(together.size());
  free_ -= threads;
  if (waiting_ > 0 && free_ > 0) came_.notify_one();
}

void Queue::work(Jobs& together) {
  while (true) {
    int threads = 0;
    next(together, threads);
    if (together.empty()) break;
    std::exception_ptr failure;
    try {
      run_(together, threads);
    } catch (...) {
      failure = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      for (const auto& job : together) {
        if (failure) job->failure = failure;
        job->done_ = true;
        job->finished_.notify_one();
      }
      running_ -= int(together.size());
      free_ += threads;
      if (waiting_ > 0) came_.notify_one();
    }
    together.clear();
  }
  came_.notify_one();  // the others end as well
}

}  // namespace sact::serve
