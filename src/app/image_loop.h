// Many images through the same work, on all cores: what goes wrong with one does not stop the
// others, results come in the order of the images, and the job can be ended early.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "app/inputs.h"
#include "base/memory.h"
#include "base/ordered_jobs.h"
#include "base/progress.h"

namespace sact::app {

/// Calls `work` for an input that gave an image. What goes wrong with it is returned in one line;
/// nothing: all went well.
std::string failure_of(const Input& input, const std::function<void()>& work);

/// What became of an image.
template <typename Result>
struct ImageOutcome {
  Result result;
  std::string failure;  // not empty: there is no result, and why
};

/// How a job over many images runs.
struct ImageJob {
  std::string label;                  // of its progress
  int workers = 1;                    // threads that work on images
  std::function<bool()> interrupted;  // asked between images; when it says true, no more are begun
};

/// Calls work(worker, index) on the inputs, each on one of the job's threads, and take(index,
/// outcome) on the calling thread in the order of the inputs. Returns false when it was interrupted
/// before all were done.
template <typename Work, typename Take>
bool run_images(const ImageJob& job, const std::vector<Input>& inputs, const Work& work,
                const Take& take) {
  using Result = decltype(work(0, size_t{0}));
  keep_freed_memory();
  Progress progress(job.label, int64_t(inputs.size()), "images");
  progress.advance(0);
  const size_t done = run_in_order(
      inputs.size(), job.workers,
      [&](int worker, size_t i) {
        ImageOutcome<Result> outcome;
        outcome.failure = failure_of(inputs[i], [&] { outcome.result = work(worker, i); });
        return outcome;
      },
      [&](size_t i, ImageOutcome<Result> outcome) {
        progress.advance();
        take(i, std::move(outcome));
      },
      job.interrupted, [&] { progress.advance(0); });
  return done == inputs.size();
}

}  // namespace sact::app
