#include "serve/runner.h"

#include <algorithm>
#include <utility>

#include "base/memory.h"
#include "base/stopwatch.h"
#include "io/decoding_memory.h"
#include "model/detection.h"
#include "model/preprocess.h"
#include "model/result.h"
#include "saliency/postprocess.h"

namespace sact::serve {
namespace {

/// Of a pixel: three of the picture, and what decoders keep besides. Progressive JPEGs, with eight,
/// are the worst.
constexpr uint64_t kDecodedBytes = 11;

/// What decoding an image takes at most, with the limits that this goes by. The strips and tiles of
/// a TIFF may be larger than its picture.
std::pair<uint64_t, io::ReadOptions> decoding_of(const ImageJob& job) {
  const io::ReadOptions options{.max_pixels = job.given.positions()};
  const uint64_t usual = kDecodedBytes * uint64_t(job.given.positions());
  if (!job.file.starts_with("II") && !job.file.starts_with("MM")) return {usual, options};
  return {std::max(usual, io::most_decoding_bytes(job.file.size(), options)), options};
}

/// While it lives a session runs as was asked, and no longer than somebody waits.
template <typename Session>
class Steered {
 public:
  Steered(Session& session, const HaltingControl& halting, std::function<bool()> over)
      : session_(session) {
    session_.set_halting(halting);
    session_.set_interruption(std::move(over));
  }
  ~Steered() { session_.set_interruption({}); }
  Steered(const Steered&) = delete;
  Steered& operator=(const Steered&) = delete;

 private:
  Session& session_;
};

/// What the service tells of a failure.
std::exception_ptr told(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Interrupted&) {
    return std::make_exception_ptr(TooLate("this takes longer than a request may"));
  } catch (const NoMemory& error) {
    return std::make_exception_ptr(Busy(error.what()));
  } catch (const std::bad_alloc&) {
    return std::make_exception_ptr(Busy("there is not enough memory for this now"));
  } catch (...) {
    return failure;
  }
}

void expect_wanted(const Job& job) {
  if (job.is_over()) throw Interrupted("nobody waits for it any more");
}

ImageJob& image_of(const std::shared_ptr<Job>& job) {
  return static_cast<ImageJob&>(*job);
}

/// The shorter side of what a network sees for a saliency map.
int saliency_side(const ImageJob& job) {
  const int asked = job.asked->saliency.size;
  return asked > 0 ? asked : saliency::usual_size(job.model->spec()).height;
}

/// How a network sees an image that it does not look for objects in.
ViewOptions view_options(const ImageJob& job) {
  const bool salient = job.asked->task == Task::kSaliency;
  const int side = salient ? saliency_side(job) : job.asked->input.size;
  const bool whole = salient || job.asked->input.whole;
  return {whole ? Framing::kKeepAspect : Framing::kCentralCrop, {side, side}};
}

}  // namespace

Size size_to_run(const ImageJob& job) {
  const ModelSpec& spec = job.model->spec();
  if (job.asked->task == Task::kDetect) return detection_size(*spec.detection, job.given);
  const ViewOptions options = view_options(job);
  const int side = options.size.height > 0 ? options.size.height : spec.input.size;
  if (options.framing == Framing::kCentralCrop) return {side, side};
  return size_keeping_aspect(job.given.width, job.given.height, side);
}

bool ImageJob::joins(const Job& job) const {
  const auto& other = static_cast<const ImageJob&>(job);
  return model == other.model && !model->detects() && !asked->dense && !other.asked->dense &&
         asked->halting.shift == other.asked->halting.shift &&
         asked->halting.hard_budget == other.asked->halting.hard_budget;
}

void Runner::run(const Jobs& jobs, int threads) {
  ImageJob& first = image_of(jobs.front());
  if (!first.model->detects()) return run_classifiers(jobs, threads);
  try {
    with_room([&] { run_detector(first, threads); });
  } catch (...) {
    first.failure = told(std::current_exception());
  }
}

void Runner::with_room(const std::function<void()>& run) const {
  try {
    return run();
  } catch (const NoMemory&) {
  } catch (const std::bad_alloc&) {
  }
  if (make_room_) make_room_();
  run();
}

/// The file is kept: there may be a second try.
Runner::Decoded Runner::decode(ImageJob& job) {
  const auto [bytes, options] = decoding_of(job);
  std::optional<ByteGate::Held> held = decoded_.take(bytes, [&] { return job.is_over(); });
  if (!held) throw TooLate("there was no memory to decode this image in its time; try again");
  Stopwatch watch;
  Decoded decoded{std::move(*held), io::decode_image(std::as_bytes(std::span(job.file)),
                                                     printable(job.name), options)};
  decoded.bytes.shrink(decoded.image.rgb.capacity());
  job.load_ms = watch.lap();
  return decoded;
}

void Runner::expect_allowed(const ImageJob& job, Size size) const {
  const int64_t most = int64_t(limits_.max_side) * limits_.max_side;
  if (size.positions() <= most) return;
  fail(
      "{}: would be {}x{} for the network, more than the {} pixels that are run here; use a "
      "smaller size",
      printable(job.name), size.height, size.width, most);
}

Runner::Prepared Runner::prepare(ImageJob& job) {
  const Decoded photo = decode(job);
  Stopwatch watch;
  const InputSpec& input = job.model->spec().input;
  const View view = view_of(photo.image, input, view_options(job));
  expect_allowed(job, view.size);
  job.crop = view.crop;
  job.size = view.size;
  Prepared prepared{&job, network_pixels(photo.image, view, input)};
  job.preprocess_ms = watch.lap();
  return prepared;
}

void Runner::run_classifiers(const Jobs& jobs, int threads) {
  std::vector<Prepared> images;
  for (const auto& job : jobs) {
    try {
      expect_wanted(*job);
      with_room([&] { images.push_back(prepare(image_of(job))); });
      image_of(job).file = {};
    } catch (...) {
      job->failure = told(std::current_exception());
    }
  }
  const auto size_of = [](const Prepared& image) {
    return std::pair(image.job->size.height, image.job->size.width);
  };
  std::stable_sort(images.begin(), images.end(),
                   [&](const Prepared& a, const Prepared& b) { return size_of(a) < size_of(b); });
  for (auto first = images.begin(), last = first; first != images.end(); first = last) {
    last = std::find_if(first, images.end(),
                        [&](const Prepared& image) { return size_of(image) != size_of(*first); });
    try {
      gather({first, last});
      with_room([&] { run_together({first, last}, threads); });
    } catch (...) {
      for (auto image = first; image != last; ++image) {
        image->job->failure = told(std::current_exception());
      }
    }
  }
}

/// All pixels stand behind those of the first.
void Runner::gather(std::span<Prepared> images) {
  std::vector<float>& all = images.front().pixels;
  all.reserve(all.size() * images.size());
  for (Prepared& image : images.subspan(1)) {
    all.insert(all.end(), image.pixels.begin(), image.pixels.end());
    image.pixels = {};
  }
}

void Runner::run_together(std::span<Prepared> images, int threads) {
  ImageJob& first = *images.front().job;
  const int count = int(images.size());
  const InputView view = pixels_view(images.front().pixels, count, first.size);
  const auto over = [&] {
    return std::all_of(images.begin(), images.end(),
                       [](const Prepared& image) { return image.job->is_over(); });
  };
  std::vector<ImageResult> results;
  const auto run = [&](NetworkSession& session, const HaltingControl& halting) {
    const Steered steered(session, halting, over);
    Stopwatch watch;
    results = session.run(view);
    const double ms = watch.lap();
    metrics_.run(count, ms);
    return ms;
  };
  {
    const ServedModel::Session session = first.model->session(threads);
    if (first.asked->dense && first.model->spec().adaptive()) {
      const ServedModel::Session dense = first.model->dense_session(threads);
      time_both(
          first, [&] { return run(*session, first.asked->halting); },
          [&] {
            std::vector<ImageResult> kept = std::move(results);
            const double ms = run(*dense, {});
            results = std::move(kept);
            return ms;
          });
    } else {
      first.network_ms = run(*session, first.asked->halting) / count;
      if (first.asked->dense) first.dense_ms = first.network_ms;
    }
  }
  for (size_t i = 0; i < images.size(); ++i) {
    ImageJob& job = *images[i].job;
    job.result = std::move(results[i]);
    job.network_ms = first.network_ms;
    job.together = count;
    job.threads = threads;
  }
}

void Runner::run_detector(ImageJob& job, int threads) {
  expect_wanted(job);
  const Decoded photo = decode(job);
  const Asked& asked = *job.asked;
  const ServedModel::Detector detector = job.model->detector(threads);
  const auto over = [&] { return job.is_over(); };
  job.crop = io::whole(photo.image);
  if (asked.task == Task::kSaliency) {
    const Steered steered(detector->session(), asked.halting, over);
    expect_allowed(job, view_of(photo.image, job.model->spec().input, view_options(job)).size);
    Stopwatch watch;
    auto [result, scaled] = detector->extract(photo.image, saliency_side(job));
    job.network_ms = watch.lap();
    metrics_.run(1, job.network_ms);
    job.result = std::move(result);
    job.size = scaled;
  } else {
    const auto run = [&](const HaltingControl& halting) {
      const Steered steered(detector->session(), halting, over);
      auto found =
          std::make_unique<detect::DetectedImage>(detector->detect(photo.image, asked.wanted));
      metrics_.run(1, found->ms.total());
      return found;
    };
    const auto adaptive = [&] {
      auto found = run(asked.halting);
      const double ms = found->ms.total();
      if (!job.detected || ms < job.detected->ms.total()) job.detected = std::move(found);
      return ms;
    };
    if (asked.dense && job.model->spec().adaptive()) {
      const HaltingControl nothing_halts{-kMostHaltingShift, 0};
      time_both(job, adaptive, [&] { return run(nothing_halts)->ms.total(); });
    } else {
      job.network_ms = adaptive();
      if (asked.dense) job.dense_ms = job.network_ms;
    }
  }
  job.together = 1;
  job.threads = threads;
  job.file = {};
}

void Runner::time_both(ImageJob& job, const std::function<double()>& adaptive,
                       const std::function<double()>& dense) {
  // The first run at a size takes memory and prepares weights, and other programs disturb any.
  constexpr int kMost = 4;
  constexpr double kLongest = 1000;
  double all = 0;
  for (int turn = 0; turn < kMost && (turn < 2 || all < kLongest); ++turn) {
    const double ms = adaptive(), dense_ms = dense();
    job.network_ms = turn == 0 ? ms : std::min(job.network_ms, ms);
    job.dense_ms = turn == 0 ? dense_ms : std::min(*job.dense_ms, dense_ms);
    all += ms + dense_ms;
  }
}

}  // namespace sact::serve
