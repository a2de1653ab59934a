// Batches decoded ahead of time: a queue of batches in work that threads fill sample by sample.
#include "data/batch_loader.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "base/start.h"
#include "base/text.h"
#include "base/threads.h"
#include "data/stored_sample.h"

namespace sact::data {
namespace {

/// Writes the planes of a sample; throws sact::Error when it cannot be read.
using Source = std::function<StoredSample(int64_t index, uint8_t* planes)>;

struct Failure {
  int64_t index = 0;
  std::string problem;
};

/// The place of one sample in a batch, filled by one thread.
struct Slot {
  int64_t index = -1;  // of the sample that is in it; -1: none
  StoredSample sample;
  std::vector<Failure> failures;  // samples tried before, in order
  std::exception_ptr exception;   // anything but an unreadable sample
};

struct Pending {
  int64_t first_position = 0;
  std::vector<uint8_t> pixels;
  std::vector<Slot> slots;
  size_t unfinished = 0;  // guarded by the mutex
};

void check_options(const LoaderOptions& options, int64_t order_size) {
  check_storage_size(options.size);
  if (options.batch_size < 1) fail("the batch size must be at least 1, not {}", options.batch_size);
  if (options.prefetch < 1) fail("prefetch must be at least 1 batch, not {}", options.prefetch);
  if (options.threads < 0) fail("the number of threads must be 0 or more, not {}", options.threads);
  if (options.first_position < 0 || options.first_position > order_size) {
    fail("the epoch has {} samples and cannot go on at sample {}; did the data set change?",
         order_size, options.first_position);
  }
  const double bytes = double(plane_bytes(options.size)) * options.batch_size;
  const double total = bytes * (double(options.prefetch) + 1),
               available = double(available_memory());
  if (total > available) {
    fail(
        "{} batches of {} images of {}x{} do not fit in the {} of memory that are free; "
        "use smaller batches or less prefetch",
        options.prefetch + 1, options.batch_size, options.size.height, options.size.width,
        format_bytes(uint64_t(available)));
  }
}

}  // namespace

class BatchLoader::Work {
 public:
  Work(Source source, std::shared_ptr<CorruptSamples> corrupt, std::vector<int64_t> order,
       const LoaderOptions& options)
      : source_(std::move(source)),
        corrupt_(std::move(corrupt)),
        limit_(corrupt_->limit()),
        order_(std::move(order)),
        options_(options),
        next_(options.first_position),
        end_(int64_t(order_.size())),
        consumed_(next_) {
    if (options_.drop_last) end_ -= (end_ - next_) % options_.batch_size;
    const int wanted = options_.threads > 0 ? options_.threads : available_threads();
    const int64_t useful = std::min<int64_t>(wanted, end_ - next_);
    try {
      for (int64_t i = 0; i < useful; ++i) {
        start_thread(
            threads_, [this] { run(); }, "workers");
      }
    } catch (...) {
      stop();
      throw;
    }
  }

  ~Work() { stop(); }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  bool next(Batch& batch) {
    if (failure_) std::rethrow_exception(failure_);
    try {
      do {
        if (consumed_ == end_) return false;
        Pending pending = take_finished(batch);
        consumed_ += int64_t(pending.slots.size());
        assemble(pending, batch);
      } while (batch.count == 0);  // every sample of it was unreadable
      return true;
    } catch (...) {
      failure_ = std::current_exception();
      stop();
      throw;
    }
  }

  int64_t corrupt_count() const { return corrupt_->count(); }

 private:
  void stop() {
    stopping_ = true;
    {
      std::lock_guard lock(mutex_);  // so that no thread is between its check and its wait
    }
    room_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  bool has_room() const {
    const bool starts_batch = (next_ - options_.first_position) % options_.batch_size == 0;
    return !starts_batch || queue_.size() < size_t(options_.prefetch);
  }

  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      room_.wait(lock, [this] { return stopping_ || next_ == end_ || has_room(); });
      if (stopping_ || next_ == end_) return;
      size_t slot = 0;
      Pending* pending = nullptr;
      try {
        std::tie(pending, slot) = take_slot();
      } catch (...) {  // no memory for another batch
        out_of_memory_ = std::current_exception();
        finished_.notify_all();
        return;
      }
      lock.unlock();
      fill(*pending, slot);
      lock.lock();
      if (--pending->unfinished == 0) finished_.notify_all();
    }
  }

  /// The next place to fill. A batch lies in the queue from its first sample to its last, and the
  /// queue never moves its elements, so the pointer holds.
  std::pair<Pending*, size_t> take_slot() {
    const int64_t done = (next_ - options_.first_position) % options_.batch_size;
    if (done == 0) {
      Pending pending;
      pending.first_position = next_;
      pending.slots.resize(size_t(std::min<int64_t>(options_.batch_size, end_ - next_)));
      pending.unfinished = pending.slots.size();
      if (!spare_.empty()) {
        pending.pixels = std::move(spare_.back());
        spare_.pop_back();
      }
      pending.pixels.resize(pending.slots.size() * plane_bytes(options_.size));
      queue_.push_back(std::move(pending));
    }
    ++next_;
    return {&queue_.back(), size_t(done)};
  }

  void fill(Pending& pending, size_t number) {
    Slot& slot = pending.slots[number];
    uint8_t* planes = pending.pixels.data() + number * plane_bytes(options_.size);
    const size_t position = size_t(pending.first_position) + number;
    try {
      std::unordered_set<int64_t> failed;
      for (size_t step = 0; step < order_.size() && !stopping_; ++step) {
        const int64_t index = order_[(position + step) % order_.size()];
        if (failed.contains(index)) continue;
        try {
          slot.sample = source_(index, planes);
          slot.index = index;
          return;
        } catch (const Error& error) {
          slot.failures.push_back({index, error.what()});
        }
        failed.insert(index);
        if (options_.on_corrupt == OnCorrupt::kSkip || int64_t(failed.size()) > limit_) return;
      }
    } catch (...) {
      slot.exception = std::current_exception();
    }
  }

  /// Waits for the batch that is first in the queue and takes it out.
  Pending take_finished(Batch& batch) {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [this] {
      return out_of_memory_ || (!queue_.empty() && queue_.front().unfinished == 0);
    });
    if (queue_.empty() || queue_.front().unfinished > 0) std::rethrow_exception(out_of_memory_);
    Pending pending = std::move(queue_.front());
    queue_.pop_front();
    spare_.push_back(std::exchange(batch.pixels, {}));
    room_.notify_all();
    return pending;
  }

  /// Reports here and not in the threads, so that what is reported does not depend on their timing.
  void assemble(Pending& pending, Batch& batch) {
    batch = Batch();
    batch.first_position = pending.first_position;
    batch.next_position = pending.first_position + int64_t(pending.slots.size());
    batch.size = options_.size;
    batch.pixels = std::move(pending.pixels);
    const size_t bytes = plane_bytes(options_.size);
    for (size_t i = 0; i < pending.slots.size(); ++i) {
      const Slot& slot = pending.slots[i];
      for (const Failure& failure : slot.failures) corrupt_->add(failure.index, failure.problem);
      if (slot.exception) std::rethrow_exception(slot.exception);
      if (slot.index < 0) {
        if (options_.on_corrupt == OnCorrupt::kSkip) continue;
        fail("none of the {} images can be read; the last: {}", order_.size(),
             slot.failures.empty() ? "unknown" : slot.failures.back().problem);
      }
      const size_t place = size_t(batch.count++);
      if (place != i) {
        std::memcpy(batch.pixels.data() + place * bytes, batch.pixels.data() + i * bytes, bytes);
      }
      batch.labels.push_back(slot.sample.label);
      batch.aspects.push_back(slot.sample.aspect);
      batch.boxes.push_back(slot.sample.box);
      batch.indices.push_back(slot.index);
    }
    batch.pixels.resize(size_t(batch.count) * bytes);
  }

  const Source source_;
  const std::shared_ptr<CorruptSamples> corrupt_;  // used by the consumer only
  const int64_t limit_;
  const std::vector<int64_t> order_;
  const LoaderOptions options_;

  std::mutex mutex_;
  std::condition_variable room_, finished_;
  std::atomic<bool> stopping_ = false;
  // Guarded by the mutex:
  int64_t next_;                             // position that a thread takes next
  int64_t end_;                              // constant once the threads run
  std::deque<Pending> queue_;                // batches in work and ready, in order
  std::vector<std::vector<uint8_t>> spare_;  // memory of batches that were given back
  std::exception_ptr out_of_memory_;

  // The consumer's own:
  int64_t consumed_;
  std::exception_ptr failure_;

  std::vector<std::thread> threads_;
};

namespace {

std::shared_ptr<CorruptSamples> chosen(const LoaderOptions& options,
                                       const std::shared_ptr<CorruptSamples>& otherwise) {
  return options.corrupt ? options.corrupt : otherwise;
}

void check_order(const std::vector<int64_t>& order, int64_t size) {
  for (const int64_t index : order) SACT_ASSERT(index >= 0 && index < size);
}

}  // namespace

BatchLoader::BatchLoader(const Dataset& dataset, std::vector<int64_t> order,
                         const LoaderOptions& options) {
  check_options(options, int64_t(order.size()));
  check_order(order, dataset.size());
  auto own = std::make_shared<CorruptSamples>(default_corrupt_limit(dataset.size()));
  auto source = [&dataset, size = options.size](int64_t index, uint8_t* planes) {
    return store_sample(dataset, index, size, planes);
  };
  work_ = std::make_unique<Work>(source, chosen(options, own), std::move(order), options);
}

BatchLoader::BatchLoader(const DecodedSet& set, std::vector<int64_t> order,
                         const LoaderOptions& options) {
  check_options(options, int64_t(order.size()));
  check_order(order, set.count());
  SACT_ASSERT(set.size() == options.size);
  auto source = [&set](int64_t index, uint8_t* planes) { return set.copy(index, planes); };
  work_ = std::make_unique<Work>(source, chosen(options, set.corrupt()), std::move(order), options);
}

BatchLoader::~BatchLoader() = default;

bool BatchLoader::next(Batch& batch) {
  return work_->next(batch);
}

int64_t BatchLoader::corrupt_count() const {
  return work_->corrupt_count();
}

}  // namespace sact::data
