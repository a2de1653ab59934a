#include "evaluation/evaluate.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <new>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/start.h"
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

int64_t values_of(const data::Batch& batch, Size size) {
  return batch.count * 3 * size.positions();
}

/// Central crops of a batch at the network's size, [count, H, W, 3].
void prepare(const data::Batch& batch, Size size, const InputSpec& input, ThreadTeam& team,
             std::span<float> pixels) {
  const size_t values = size_t(3 * size.positions());
  std::atomic<bool> out_of_memory = false;
  team.share(batch.count, 1, [&](int64_t first, int64_t last) {
    try {
      for (int64_t i = first; i < last; ++i) {
        const io::RgbImage image = image_of(batch, i);
        fill_network_pixels(image, view_of(image, input, {Framing::kCentralCrop, size}), input,
                            pixels.subspan(size_t(i) * values, values));
      }
    } catch (const std::bad_alloc&) {
      out_of_memory = true;  // must not leave the thread
    }
  });
  if (out_of_memory) throw std::bad_alloc();
}

/// A session and the batch that it runs.
struct Lane {
  struct Ran {
    std::vector<ImageResult> results;
    Clock::time_point begin, end;
  };

  NetworkSession* session = nullptr;
  data::Batch batch;
  std::vector<float> own_pixels;  // where the session has no memory for them
  InputView view;
  std::future<Ran> running;  // not valid: it has nothing to do

  void prepare_batch(Size size, const InputSpec& input, ThreadTeam& team) {
    std::span<float> pixels = session->input_memory(values_of(batch, size));
    if (pixels.empty()) {
      own_pixels.resize(size_t(values_of(batch, size)));
      pixels = own_pixels;
    }
    prepare(batch, size, input, team, pixels);
    view = pixels_view(pixels, batch.count, size);
  }
  /// `alone`: only when its result is asked for, by the thread that asks.
  void start(bool alone) {
    const auto run = [this] {
      const auto begin = Clock::now();
      std::vector<ImageResult> results = session->run(view);
      return Ran{std::move(results), begin, Clock::now()};
    };
    running = alone ? std::async(std::launch::deferred, run) : start_async(run);
  }
};

/// Time in which at least one of several ran, of spans in the order of their beginnings.
class BusyTime {
 public:
  void add(Clock::time_point begin, Clock::time_point end) {
    if (end <= last_) return;
    seconds_ += std::chrono::duration<double>(end - std::max(begin, last_)).count();
    last_ = end;
  }
  double seconds() const { return seconds_; }

 private:
  Clock::time_point last_ = Clock::time_point::min();
  double seconds_ = 0;
};

EvalOutcome evaluate_at(Size size, Sessions sessions, const ModelSpec& spec,
                        const data::Dataset& dataset, const EvaluationRequest& request,
                        const std::shared_ptr<data::CorruptSamples>& corrupt) {
  const auto start = Clock::now();
  sessions.front()->expect_memory(int(std::min<int64_t>(request.batch, dataset.size())), size);
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
  BusyTime network;
  std::vector<Lane> lanes(sessions.size());
  for (size_t i = 0; i < lanes.size(); ++i) lanes[i].session = sessions[i];
  const auto take = [&](Lane& lane) {
    const Lane::Ran ran = lane.running.get();
    network.add(ran.begin, ran.end);
    for (size_t i = 0; i < ran.results.size(); ++i) {
      tally.add(ran.results[i], lane.batch.labels[i]);
      report(request, {dataset.sample_name(lane.batch.indices[i]), size, lane.batch.labels[i],
                       ran.results[i]});
    }
    progress.advance(lane.batch.count);
  };
  size_t turn = 0;
  for (;; turn = (turn + 1) % lanes.size()) {
    Lane& lane = lanes[turn];
    if (lane.running.valid()) take(lane);
    if (!loader.next(lane.batch)) break;
    if (request.interrupted && request.interrupted()) {
      throw Interrupted("the evaluation was interrupted");
    }
    lane.prepare_batch(size, spec.input, team);
    lane.start(lanes.size() == 1);
  }
  for (size_t i = 1; i < lanes.size(); ++i) {  // the oldest first
    Lane& lane = lanes[(turn + i) % lanes.size()];
    if (lane.running.valid()) take(lane);
  }
  progress.finish();
  corrupt->name_lost_classes(dataset);
  EvalOutcome outcome = tally.outcome(size, dataset.size());
  outcome.seconds = seconds_since(start);
  outcome.network_seconds = network.seconds();
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
    pixels.resize(size_t(values_of(batch, size)));
    prepare(batch, size, spec.input, team, pixels);
    images.pixels.insert(images.pixels.end(), pixels.begin(), pixels.end());
    images.labels.insert(images.labels.end(), batch.labels.begin(), batch.labels.end());
    progress.advance(batch.count);
  }
  progress.finish();
  return images;
}

std::vector<EvalOutcome> evaluate(Sessions sessions, const ModelSpec& spec,
                                  const EvaluationRequest& request) {
  SACT_ASSERT(!sessions.empty());
  const auto dataset = open_data(request, spec);
  // Of all sizes together, so that an unreadable image is named once.
  const auto corrupt = std::make_shared<data::CorruptSamples>(
      data::corrupt_limit(dataset->size(), data::kTolerableShare));
  std::vector<EvalOutcome> outcomes;
  for (const Size size : request.sizes) {
    validate_image_size(size);
    outcomes.push_back(evaluate_at(size, sessions, spec, *dataset, request, corrupt));
  }
  return outcomes;
}

}  // namespace sact::evaluation
