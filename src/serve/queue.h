// Where requests wait for the networks. One thread runs these, with all processors; requests that
// wait together and want the same run together.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "detect/detector.h"
#include "serve/models.h"

namespace sact::serve {

using Clock = std::chrono::steady_clock;

/// One image for one network, and later what that said.
struct Job {
  enum class Kind { kNetwork, kDenseNetwork, kDetect, kExtract };

  Kind kind = Kind::kNetwork;
  ServedModel* model = nullptr;
  HaltingControl halting;
  Clock::time_point deadline;
  // For networks: a prepared input.
  Size size;
  std::vector<float> pixels;
  // For detectors: a photograph.
  std::shared_ptr<const io::RgbImage> photo;
  DetectOptions wanted;
  int side = 0;  // of kExtract
  /// The same without halting, for its time: both take turns, and the fastest run of each counts.
  std::shared_ptr<Job> rival;

  ImageResult result;
  detect::DetectedImage detected;
  double network_ms = 0;  // its share of a run
  double queue_ms = 0;    // that it waited
  int together = 0;       // images of that run
  std::exception_ptr failure;

 private:
  friend class Queue;
  Clock::time_point came;
  bool done = false, given_up = false;
  bool joins(const Job& other) const;
};

/// The queue is full: come back later.
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
  int batch = 8;      // images that run together
};

class Queue {
 public:
  /// `ran(images, ms)` is told of every run.
  Queue(const QueueLimits& limits, std::function<void(int images, double ms)> ran);
  ~Queue();

  /// Takes all jobs or throws Busy.
  void put(const std::vector<std::shared_ptr<Job>>& jobs);
  /// Waits for one. Throws what its run threw, or TooLate.
  void wait(Job& job);
  int waiting() const;

 private:
  void work();
  std::vector<std::shared_ptr<Job>> next();
  void run(const std::vector<std::shared_ptr<Job>>& jobs);
  void run_once(const std::vector<std::shared_ptr<Job>>& jobs);
  void take_turns(const std::shared_ptr<Job>& job);
  void run_networks(const std::vector<std::shared_ptr<Job>>& jobs);
  static void run_detector(Job& job);

  QueueLimits limits_;
  std::function<void(int, double)> ran_;
  mutable std::mutex mutex_;
  std::condition_variable came_, finished_;
  std::deque<std::shared_ptr<Job>> jobs_;
  bool ended_ = false;
  std::thread worker_;
};

}  // namespace sact::serve
