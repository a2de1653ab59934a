#include <algorithm>
#include <numeric>
#include <utility>

#include "api/state.h"
#include "base/stopwatch.h"
#include "model/detection.h"

namespace sact::api {
namespace {

int checked_batch(int batch) {
  if (batch < 1) fail("batch is {}: at least 1 is needed", batch);
  return batch;
}

const LoadedNetwork& classifier_of(const ModelState& model) {
  if (!model.network) {
    fail(
        "{}: is a detector, which finds objects and does not classify images: make a detector of "
        "it, not a session",
        printable(model.name));
  }
  return *model.network;
}

void tell(const RunOptions& options, size_t done, size_t total) {
  if (options.progress) options.progress(int(done), int(total));
}

}  // namespace

SessionState::SessionState(std::shared_ptr<const ModelState> model, const SessionOptions& options)
    : model_(std::move(model)),
      batch_(checked_batch(options.batch)),
      halting_(checked_halting(options.work, *model_)),
      session_(classifier_of(*model_).session(checked_threads(options.threads), halting_)) {}

std::vector<Result> SessionState::run_together(const InputView& images, double prepare_ms,
                                               int before) {
  Stopwatch watch;
  std::vector<ImageResult> found = session_->run(images);
  const RunTimes ms{prepare_ms / images.count, watch.lap() / images.count};
  std::vector<Result> results;
  for (ImageResult& image : found) {
    check_finite(image, fmt::format("image {}", before + int(results.size())));
    results.push_back(Result(std::make_shared<ResultState>(
        ResultState{model_->spec, images.size, std::move(image), ms})));
  }
  return results;
}

std::vector<Result> SessionState::run(const InputView& images, const RunOptions& options) {
  return cancellable([&] {
    const Steering steering(*session_, options, *model_, halting_);
    std::vector<Result> results;
    for (int first = 0; first < images.count; first += batch_) {
      const InputView part = images.part(first, std::min(batch_, images.count - first));
      const std::vector<Result> found = run_together(part, 0, first);
      results.insert(results.end(), found.begin(), found.end());
      tell(options, results.size(), size_t(images.count));
    }
    return results;
  });
}

std::vector<Result> SessionState::run(const std::vector<ImageView>& images,
                                      const RunOptions& options) {
  const ModelSpec& spec = *model_->spec;
  std::vector<View> views;
  for (const ImageView& image : images) {
    views.push_back(view_of(spec, checked(image), options.input));
  }
  // Inputs of one size side by side, and otherwise in their order.
  std::vector<size_t> order(images.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const Size left = views[a].size, right = views[b].size;
    return std::pair(left.height, left.width) < std::pair(right.height, right.width);
  });
  return cancellable([&] {
    const Steering steering(*session_, options, *model_, halting_);
    std::vector<std::optional<Result>> results(images.size());
    std::vector<float> pixels;
    for (size_t first = 0, last = 0; first < order.size(); first = last) {
      const Size size = views[order[first]].size;
      Stopwatch watch;
      pixels.clear();
      for (; last < order.size() && last - first < size_t(batch_); ++last) {
        const size_t image = order[last];
        if (views[image].size != size) break;
        append_network_pixels(images[image], views[image], spec.input, pixels);
      }
      const double prepare_ms = watch.lap();
      const std::vector<Result> found =
          run_together(pixels_view(pixels, int(last - first), size), prepare_ms, int(first));
      for (size_t i = 0; i < found.size(); ++i) results[order[first + i]].emplace(found[i]);
      tell(options, last, images.size());
    }
    std::vector<Result> in_order;
    for (const std::optional<Result>& result : results) in_order.push_back(*result);
    return in_order;
  });
}

void SessionState::warm_up(int images, const InputOptions& input) {
  if (images < 1) fail("warm_up(): {} images are none", images);
  const int side = input.size > 0 ? input.size : model_->spec->input.size;
  const Size size{side, side};
  validate_image_size(size);
  const int count = std::min(images, batch_);
  session_->expect_memory(count, size);
  const std::vector<float> grey(size_t(count) * 3 * size_t(size.positions()), 0.0f);
  run(pixels_view(grey, count, size), {});
}

}  // namespace sact::api
