// Images one after another through a command's work, on all cores: what goes wrong with one does
// not stop the others, results come in the order of the images, and Ctrl-C ends the job early.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "base/ordered_jobs.h"
#include "base/progress.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"

namespace sact::cli {

/// Calls `work` for an input that gave an image. What goes wrong with this image alone is returned
/// in one line; nothing: all went well. That standard output cannot be written is thrown on: the
/// next image would not fare better.
std::string failure_of(const Input& input, const std::function<void()>& work);

/// The images that the arguments stand for, in their shard.
std::vector<Input> inputs_of(const std::vector<std::string>& arguments,
                             const std::filesystem::path& excluded, const Shard& shard,
                             Skipped& skipped);

/// What became of an image.
template <typename Result>
struct ImageOutcome {
  Result result;
  std::string failure;  // not empty: there is no result, and why
};

/// How many images to run at the same time on `threads` threads. One thread each gives the most
/// images in a second; where there are fewer images than threads, or memory for fewer of them at
/// `bytes` each, several work on each.
int images_at_a_time(size_t images, int threads, int64_t bytes);

/// Calls work(worker, index) on the inputs, each on one of `workers` threads, and take(index,
/// outcome) on the calling thread in the order of the inputs. Returns false when it was interrupted
/// before all were done.
template <typename Work, typename Take>
bool run_images(const std::string& label, const std::vector<Input>& inputs, int workers,
                const Work& work, const Take& take) {
  using Result = decltype(work(0, size_t{0}));
  catch_interrupts();
  keep_freed_memory();
  Progress progress(label, int64_t(inputs.size()), "images");
  progress.advance(0);
  const size_t done = run_in_order(
      inputs.size(), workers,
      [&](int worker, size_t i) {
        ImageOutcome<Result> outcome;
        outcome.failure = failure_of(inputs[i], [&] { outcome.result = work(worker, i); });
        return outcome;
      },
      [&](size_t i, ImageOutcome<Result> outcome) {
        progress.advance();
        take(i, std::move(outcome));
      },
      was_interrupted, [&] { progress.advance(0); });
  return done == inputs.size();
}

}  // namespace sact::cli
