// Threads that work together on parts of one job after another.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace sact {

/// A network is hundreds of short jobs in a row. Between two of them the threads look out for the
/// next for some microseconds before they sleep: long enough not to be woken every time, and short
/// enough not to take the processor from other programs, or from the very thread that they wait
/// for. After a longer sleep a system likes to wake a thread on the processor of the one that woke
/// it, where both then take turns for tens of milliseconds: so helpers are kept off the caller's.
class ThreadTeam {
 public:
  /// `size` counts the thread that calls run().
  explicit ThreadTeam(int size);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return int(helpers_.size()) + 1; }

  /// Calls work(part) once for each part in [0, parts), parts <= size(), each on a thread of its
  /// own, and returns when all have returned. `work` must not throw.
  template <typename Work>
  void run(int parts, const Work& work) {
    if (parts == 1) {
      job_.parts = 1;
      return work(0);
    }
    start(
        {[](const void* job, int part) { (*static_cast<const Work*>(job))(part); }, &work, parts});
  }

  /// Called inside of a job by all of its parts: none returns before all have called. What they
  /// wrote before, all can read after.
  void barrier();

  /// Shares [0, count) out evenly: work(first, last) for each thread, with at least `least` items,
  /// if there are so many.
  template <typename Work>
  void share(int64_t count, int64_t least, const Work& work) {
    if (count <= 0) return;
    const int64_t most = (count + least - 1) / least;
    const int parts = int(most < size() ? most : size());
    run(parts, [&](int part) { work(count * part / parts, count * (part + 1) / parts); });
  }

 private:
  struct Job {
    void (*call)(const void* work, int part) = nullptr;
    const void* work = nullptr;
    int parts = 0;
  };
  void start(const Job& job);
  void help(int part);
  void keep_apart();
  void end();

  struct Processors;  // those that the threads may run on
  std::unique_ptr<Processors> processors_;

  Job job_;
  std::atomic<uint32_t> started_{0};  // jobs so far; the top bit asks the threads to end
  std::atomic<int> unfinished_{0};    // helpers that have not finished the job under way
  std::atomic<int> arrived_{0};       // parts that wait in barrier()
  std::atomic<uint32_t> barriers_{0};
  std::vector<std::thread> helpers_;
};

}  // namespace sact
