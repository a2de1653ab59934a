#include "evaluation/evaluate.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>

#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/thread_team.h"
#include "base/threads.h"
#include "data/batch_loader.h"
#include "data/class_matching.h"
#include "data/open.h"
#include "data/order.h"
#include "data/stored_sample.h"
#include "evaluation/tally.h"
#include "model/preprocess.h"

namespace sact::evaluation {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// One image of a batch.
io::RgbImage image_of(const data::Batch& batch, int64_t number) {
  io::RgbImage image(batch.size.width, batch.size.height);
  const size_t plane = size_t(batch.size.positions());
  const uint8_t* planes = batch.pixels.data() + size_t(number) * data::plane_bytes(batch.size);
  for (size_t i = 0; i < plane; ++i) {
    for (size_t c = 0; c < 3; ++c) image.rgb[i * 3 + c] = planes[c * plane + i];
  }
  return image;
}

/// Central crops of a batch at the network's size, [count, H, W, 3].
void prepare(const data::Batch& batch, Size size, const InputSpec& input, ThreadTeam& team,
             std::vector<float>& pixels) {
  const size_t values = size_t(3 * size.positions());
  pixels.resize(size_t(batch.count) * values);
  std::atomic<bool> out_of_memory = false;
  team.share(batch.count, 1, [&](int64_t first, int64_t last) {
    try {
      for (int64_t i = first; i < last; ++i) {
        const io::RgbImage image = image_of(batch, i);
        fill_network_pixels(image, view_of(image, input, {Framing::kCentralCrop, size}), input,
                            std::span(pixels).subspan(size_t(i) * values, values));
      }
    } catch (const std::bad_alloc&) {
      out_of_memory = true;  // must not leave the thread
    }
  });
  if (out_of_memory) throw std::bad_alloc();
}

EvalOutcome evaluate_at(Size size, NetworkSession& session, const ModelSpec& spec,
                        const data::Dataset& dataset, const EvaluationRequest& request,
                        const std::shared_ptr<data::CorruptSamples>& corrupt) {
  const auto start = Clock::now();
  session.expect_memory(int(std::min<int64_t>(request.batch, dataset.size())), size);
  const int side = storage_size(dataset, size, spec);
  data::LoaderOptions options;
  options.batch_size = request.batch;
  options.size = {side, side};
  options.threads = request.workers;
  options.on_corrupt = data::OnCorrupt::kSkip;
  options.corrupt = corrupt;
  data::BatchLoader loader(dataset, data::epoch_order(dataset.size(), 0, 0, false), options);
  ThreadTeam team(thread_count(request.threads));
  Progress progress("evaluating", dataset.size(), "images");
  Tally tally(spec.blocks());
  double network_seconds = 0;
  data::Batch batch;
  std::vector<float> pixels;
  while (loader.next(batch)) {
    if (request.interrupted && request.interrupted()) {
      throw Interrupted("the evaluation was interrupted");
    }
    prepare(batch, size, spec.input, team, pixels);
    const auto network_start = Clock::now();
    const std::vector<ImageResult> results = session.run(pixels_view(pixels, batch.count, size));
    network_seconds += seconds_since(network_start);
    for (size_t i = 0; i < results.size(); ++i) {
      tally.add(results[i], batch.labels[i]);
      report(request, {dataset.sample_name(batch.indices[i]), size, batch.labels[i], results[i]});
    }
    progress.advance(batch.count);
  }
  progress.finish();
  corrupt->name_lost_classes(dataset);
  EvalOutcome outcome = tally.outcome(size, dataset.size());
  outcome.seconds = seconds_since(start);
  outcome.network_seconds = network_seconds;
  return outcome;
}

}  // namespace

std::unique_ptr<data::Dataset> open_data(const EvaluationRequest& request, const ModelSpec& spec) {
  data::OpenOptions options;
  options.class_names = request.class_names;
  auto dataset = data::open_dataset(request.data, request.split, options);
  data::ClassMatch match = data::match_classes(dataset->class_names(), spec.labels, spec.classes);
  if (!match.problem.empty()) {
    fail("{}: {}; {}", printable(request.data), match.problem,
         !spec.labels.empty() ? "name the folders as the network does, or give --class-names FILE"
                              : "give the model labels with 'sact export --labels'");
  }
  if (!match.order.empty()) {
    log_info("the network has no labels: its {} are taken in the order of {}",
             pluralize(spec.classes, "class", "classes"), match.order);
  }
  return data::with_network_labels(std::move(dataset), std::move(match.classes), spec.labels,
                                   spec.classes);
}

void report(const EvaluationRequest& request, const EvaluatedImage& image) {
  check_finite(image.result, image.name);
  if (request.on_image) request.on_image(image);
}

int storage_size(const data::Dataset& dataset, Size size, const ModelSpec& spec) {
  return data::suitable_storage_size(dataset, std::max(size.height, size.width), spec.input.crop);
}

PreparedImages prepare_images(const data::Dataset& dataset, const std::vector<int64_t>& samples,
                              Size size, const ModelSpec& spec, const EvaluationRequest& request) {
  validate_image_size(size);
  expect_memory(4 * 3 * uint64_t(size.positions()) * samples.size(),
                fmt::format("holding {} of {}x{}", pluralize(int64_t(samples.size()), "image"),
                            size.height, size.width));
  const int side = storage_size(dataset, size, spec);
  data::LoaderOptions options;
  options.batch_size = request.batch;
  options.size = {side, side};
  options.threads = request.workers;
  options.on_corrupt = data::OnCorrupt::kSkip;
  options.corrupt = std::make_shared<data::CorruptSamples>(
      data::corrupt_limit(int64_t(samples.size()), data::kTolerableShare));
  data::BatchLoader loader(dataset, samples, options);
  ThreadTeam team(thread_count(request.threads));
  PreparedImages images{size, {}, {}};
  Progress progress("reading", int64_t(samples.size()), "images");
  data::Batch batch;
  std::vector<float> pixels;
  while (loader.next(batch)) {
    if (request.interrupted && request.interrupted()) throw Interrupted("interrupted");
    prepare(batch, size, spec.input, team, pixels);
    images.pixels.insert(images.pixels.end(), pixels.begin(), pixels.end());
    images.labels.insert(images.labels.end(), batch.labels.begin(), batch.labels.end());
    progress.advance(batch.count);
  }
  progress.finish();
  return images;
}

std::vector<EvalOutcome> evaluate(NetworkSession& session, const ModelSpec& spec,
                                  const EvaluationRequest& request) {
  const auto dataset = open_data(request, spec);
  // Of all sizes together, so that an unreadable image is named once.
  const auto corrupt = std::make_shared<data::CorruptSamples>(
      data::corrupt_limit(dataset->size(), data::kTolerableShare));
  std::vector<EvalOutcome> outcomes;
  for (const Size size : request.sizes) {
    validate_image_size(size);
    outcomes.push_back(evaluate_at(size, session, spec, *dataset, request, corrupt));
  }
  return outcomes;
}

}  // namespace sact::evaluation
