// Decoding a whole data set into one block of memory.
#include "data/decoded_set.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/start.h"
#include "base/text.h"
#include "base/threads.h"

namespace sact::data {
namespace {

/// The bytes of all planes; refuses more than may be taken.
size_t checked_bytes(int64_t count, const DecodeOptions& options) {
  check_storage_size(options.size);
  const uint64_t free_bytes = available_memory();
  const uint64_t limit = options.max_bytes > 0 ? options.max_bytes : free_bytes - free_bytes / 10;
  const uint64_t needed = uint64_t(count) * plane_bytes(options.size);  // sides are limited
  if (needed <= limit) return size_t(needed);
  const int side = int(std::sqrt(double(limit) / (3.0 * double(count))));
  fail("{} images of {}x{} take {} in memory, but only {} are free for them; {}",
       format_grouped(count), options.size.height, options.size.width, format_bytes(needed),
       format_bytes(limit),
       side >= 32 ? fmt::format("use a storage size of {} or less, or no cache", side)
                  : "do without the cache");
}

}  // namespace

/// Fills the block with several threads while the constructing thread shows progress.
class DecodedSet::Filling {
 public:
  Filling(const Dataset& dataset, const DecodeOptions& options, DecodedSet& set)
      : dataset_(dataset), options_(options), set_(set) {}

  void run() {
    const int wanted = options_.threads > 0 ? options_.threads : available_threads();
    std::vector<std::thread> threads;
    auto join = [&] {
      stopping_ = true;
      for (std::thread& thread : threads) thread.join();
    };
    try {
      for (int i = 0; i < wanted; ++i) {
        start_thread(
            threads, [this] { fill(); }, "workers");
      }
      watch();
    } catch (...) {
      join();
      throw;
    }
    join();
    if (exception_) std::rethrow_exception(exception_);
    for (const auto& [index, problem] : problems_) set_.corrupt_->add(index, problem);
    set_.problems_.insert(problems_.begin(), problems_.end());
  }

 private:
  void fill() {
    while (!stopping_) {
      const int64_t index = next_++;
      if (index >= dataset_.size()) return;
      try {
        store(index);
      } catch (const Error& error) {
        note_problem(index, error.what());
      } catch (...) {
        std::lock_guard lock(mutex_);
        if (!exception_) exception_ = std::current_exception();
        stopping_ = true;
      }
      std::lock_guard lock(mutex_);
      ++done_;
      if (stopping_ || done_ == dataset_.size()) changed_.notify_all();
    }
  }

  void store(int64_t index) {
    const size_t i = size_t(index), bytes = plane_bytes(options_.size);
    uint8_t* planes = set_.pixels_.get() + i * bytes;
    std::memset(planes, 0, bytes);
    const StoredSample sample = store_sample(dataset_, index, options_.size, planes);
    set_.samples_.labels[i] = sample.label;
    set_.samples_.aspects[i] = sample.aspect;
    set_.samples_.boxes[i] = sample.box;
  }

  void note_problem(int64_t index, const std::string& problem) {
    std::lock_guard lock(mutex_);
    problems_[index] = problem;
    // Too many already: there is no point in going through the rest.
    if (int64_t(problems_.size()) > set_.corrupt_->limit()) stopping_ = true;
  }

  void watch() {
    Progress progress("decoding", dataset_.size(), "images");
    int64_t shown = 0;
    std::unique_lock lock(mutex_);
    while (!stopping_ && done_ < dataset_.size()) {
      changed_.wait_for(lock, std::chrono::milliseconds(100));
      const int64_t done = done_;
      lock.unlock();
      progress.advance(done - std::exchange(shown, done));
      if (options_.interrupted && options_.interrupted()) {
        throw Interrupted(
            fmt::format("interrupted while decoding images into memory, after {} of {}", done,
                        dataset_.size()));
      }
      lock.lock();
    }
  }

  const Dataset& dataset_;
  const DecodeOptions& options_;
  DecodedSet& set_;
  std::atomic<int64_t> next_ = 0;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by the mutex:
  int64_t done_ = 0;
  std::map<int64_t, std::string> problems_;
  std::exception_ptr exception_;
};

DecodedSet::DecodedSet(const Dataset& dataset, const DecodeOptions& options)
    : size_(options.size), bytes_(checked_bytes(dataset.size(), options)) {
  // Not set to zero: the threads touch it first, each its own part.
  pixels_.reset(new (std::nothrow) uint8_t[bytes_]);
  if (!pixels_)
    fail("the system gives no {} of memory; do without the cache", format_bytes(bytes_));
  const size_t count = size_t(dataset.size());
  samples_.labels.resize(count, 0);
  samples_.aspects.resize(count, 1);
  samples_.boxes.resize(count);
  corrupt_ = options.corrupt
                 ? options.corrupt
                 : std::make_shared<CorruptSamples>(default_corrupt_limit(dataset.size()));
  Filling(dataset, options, *this).run();
}

std::vector<int64_t> DecodedSet::readable_order(const std::vector<int64_t>& order,
                                                OnCorrupt on_corrupt) const {
  std::vector<int64_t> result;
  result.reserve(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    size_t step = 0;
    while (on_corrupt == OnCorrupt::kReplace && step < order.size() &&
           !readable(order[(i + step) % order.size()])) {
      ++step;
    }
    const int64_t index = order[(i + step) % order.size()];
    if (readable(index)) result.push_back(index);
  }
  if (on_corrupt == OnCorrupt::kReplace && result.empty() && !order.empty()) {
    fail("none of the {} images can be read; the last: {}", order.size(),
         problems_.at(order.back()));
  }
  return result;
}

StoredSample DecodedSet::copy(int64_t index, uint8_t* planes) const {
  const auto problem = problems_.find(index);
  if (problem != problems_.end()) throw Error(problem->second);
  const size_t i = size_t(index), bytes = plane_bytes(size_);
  std::memcpy(planes, pixels_.get() + i * bytes, bytes);
  return {samples_.labels[i], samples_.aspects[i], samples_.boxes[i]};
}

}  // namespace sact::data
