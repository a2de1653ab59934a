#include "serve/queue.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace sact::serve {
namespace {

double milliseconds(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace

bool Job::joins(const Job& other) const {
  return (kind == Kind::kNetwork || kind == Kind::kDenseNetwork) && kind == other.kind &&
         model == other.model && !rival && !other.rival && size == other.size &&
         halting.shift == other.halting.shift && halting.hard_budget == other.halting.hard_budget;
}

Queue::Queue(const QueueLimits& limits, std::function<void(int, double)> ran)
    : limits_(limits), ran_(std::move(ran)), worker_([this] { work(); }) {}

Queue::~Queue() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  came_.notify_all();
  worker_.join();
}

int Queue::waiting() const {
  const std::lock_guard lock(mutex_);
  return int(jobs_.size());
}

void Queue::put(const std::vector<std::shared_ptr<Job>>& jobs) {
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.size() + jobs.size() > size_t(limits_.waiting)) {
      throw Busy(fmt::format("{} images are waiting already; try again", jobs_.size()));
    }
    for (const auto& job : jobs) {
      job->came = Clock::now();
      jobs_.push_back(job);
    }
  }
  came_.notify_one();
}

void Queue::wait(Job& job) {
  std::unique_lock lock(mutex_);
  if (!finished_.wait_until(lock, job.deadline, [&] { return job.done; })) {
    job.given_up = true;
    throw TooLate("the server had no time for this; try again");
  }
  if (job.failure) std::rethrow_exception(job.failure);
}

std::vector<std::shared_ptr<Job>> Queue::next() {
  std::unique_lock lock(mutex_);
  came_.wait(lock, [&] { return !jobs_.empty() || ended_; });
  std::vector<std::shared_ptr<Job>> together;
  for (auto job = jobs_.begin(); job != jobs_.end() && int(together.size()) < limits_.batch;) {
    if ((*job)->given_up) {
      job = jobs_.erase(job);
    } else if (together.empty() || (*job)->joins(*together.front())) {
      (*job)->queue_ms = milliseconds(Clock::now() - (*job)->came);
      together.push_back(std::move(*job));
      job = jobs_.erase(job);
    } else {
      ++job;
    }
  }
  return together;
}

void Queue::work() {
  while (true) {
    const std::vector<std::shared_ptr<Job>> together = next();
    if (together.empty()) {
      const std::lock_guard lock(mutex_);
      if (ended_ && jobs_.empty()) return;
      continue;
    }
    run(together);
    {
      const std::lock_guard lock(mutex_);
      for (const auto& job : together) job->done = true;
    }
    finished_.notify_all();
  }
}

void Queue::run_once(const std::vector<std::shared_ptr<Job>>& jobs) {
  Job& first = *jobs.front();
  const bool detects = first.kind == Job::Kind::kDetect || first.kind == Job::Kind::kExtract;
  const auto start = Clock::now();
  detects ? run_detector(first) : run_networks(jobs);
  const double ms = milliseconds(Clock::now() - start);
  for (const auto& job : jobs) {
    job->network_ms = ms / double(jobs.size());
    job->together = int(jobs.size());
  }
  ran_(int(jobs.size()), ms);
}

void Queue::take_turns(const std::shared_ptr<Job>& job) {
  // The first run at a size takes memory and prepares weights, and other programs disturb any.
  constexpr int kMost = 4;
  constexpr double kLongest = 1000;
  struct Fastest {
    double network_ms = std::numeric_limits<double>::infinity();
    detect::DetectedImage detected;
  };
  Fastest fastest[2];
  double all = 0;
  for (int turn = 0; turn < kMost && (turn < 2 || all < kLongest); ++turn) {
    for (const auto& [contender, best] :
         {std::pair(job, &fastest[0]), std::pair(job->rival, &fastest[1])}) {
      run_once({contender});
      all += contender->network_ms;
      if (contender->network_ms >= best->network_ms) continue;
      *best = {contender->network_ms, std::move(contender->detected)};
    }
  }
  job->network_ms = fastest[0].network_ms;
  job->detected = std::move(fastest[0].detected);
  job->rival->network_ms = fastest[1].network_ms;
  job->rival->detected = std::move(fastest[1].detected);
}

void Queue::run(const std::vector<std::shared_ptr<Job>>& jobs) {
  try {
    jobs.front()->rival ? take_turns(jobs.front()) : run_once(jobs);
  } catch (const Interrupted&) {
    for (const auto& job : jobs) {
      job->failure = std::make_exception_ptr(TooLate("this takes longer than a request may"));
    }
  } catch (const std::bad_alloc&) {
    for (const auto& job : jobs) {
      job->failure = std::make_exception_ptr(Busy("there is not enough memory for this now"));
    }
  } catch (...) {
    for (const auto& job : jobs) job->failure = std::current_exception();
  }
}

namespace {

/// While it lives a session runs as a job asks, and no longer than until `end`.
template <typename Session>
class Steered {
 public:
  Steered(Session& session, const HaltingControl& halting, Clock::time_point end)
      : session_(session) {
    session_.set_halting(halting);
    session_.set_interruption([end] { return Clock::now() > end; });
  }
  ~Steered() { session_.set_interruption({}); }
  Steered(const Steered&) = delete;
  Steered& operator=(const Steered&) = delete;

 private:
  Session& session_;
};

}  // namespace

void Queue::run_networks(const std::vector<std::shared_ptr<Job>>& jobs) {
  const Job& first = *jobs.front();
  NetworkSession& session = first.kind == Job::Kind::kDenseNetwork ? first.model->dense_session()
                                                                   : first.model->session();
  Clock::time_point end = first.deadline;
  for (const auto& job : jobs) end = std::max(end, job->deadline);
  const Steered steered(session, first.halting, end);
  std::vector<float> joined;
  if (jobs.size() > 1) {
    for (const auto& job : jobs) {
      joined.insert(joined.end(), job->pixels.begin(), job->pixels.end());
    }
  }
  const std::vector<float>& pixels = jobs.size() > 1 ? joined : first.pixels;
  std::vector<ImageResult> results = session.run(pixels_view(pixels, int(jobs.size()), first.size));
  for (size_t i = 0; i < jobs.size(); ++i) jobs[i]->result = std::move(results[i]);
}

void Queue::run_detector(Job& job) {
  detect::ObjectDetector& detector = job.model->detector();
  const Steered steered(detector.session(), job.halting, job.deadline);
  if (job.kind == Job::Kind::kExtract) {
    auto [result, scaled] = detector.extract(*job.photo, job.side);
    job.result = std::move(result);
    job.size = scaled;
  } else {
    job.detected = detector.detect(*job.photo, job.wanted);
  }
}

}  // namespace sact::serve
