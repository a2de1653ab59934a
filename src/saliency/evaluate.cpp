#include "saliency/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/sample.h"
#include "io/resize.h"
#include "model/detection.h"
#include "model/flops.h"
#include "model/preprocess.h"
#include "saliency/metrics.h"

namespace sact::saliency {
namespace {

void check_interruption(const Work& work) {
  if (work.interrupted && work.interrupted()) throw Interrupted("the evaluation was interrupted");
}

/// Calls job(i) once for each i of [0, count) on all threads, and shows how far it is.
template <typename Job>
void share_out(size_t count, const Work& work, Progress& progress, const Job& job) {
  std::mutex mutex;
  run_in_parallel(count, work.threads, [&](size_t i) {
    check_interruption(work);
    job(i);
    const std::lock_guard lock(mutex);
    progress.advance();
  });
}

Fixations others_of(size_t image, const std::vector<Fixations>& all, uint64_t seed) {
  std::vector<const Fixations*> others;
  for (const size_t other : other_images(image, all.size(), seed)) others.push_back(&all[other]);
  return joined(others, all[image].size);
}

/// What an image's maps are measured by.
struct Truth {
  const Fixations& fixations;
  Map density;
  Fixations others;
  Sampling sampling;
  bool jitter;
};

Scores scores_of(const Map& map, const Truth& truth) {
  Scores scores;
  scores[kAucJudd] =
      auc_judd(truth.jitter ? jittered(map, truth.sampling.seed) : map, truth.fixations);
  scores[kNss] = nss(map, truth.fixations);
  scores[kCc] = correlation(map, truth.density);
  scores[kSim] = similarity(map, truth.density);
  scores[kKl] = kl_divergence(map, truth.density);
  scores[kAucBorji] = auc_borji(map, truth.fixations, truth.sampling);
  scores[kShuffledAuc] = truth.others.pixels.empty()
                             ? std::numeric_limits<double>::quiet_NaN()
                             : auc_shuffled(map, truth.fixations, truth.others, truth.sampling);
  return scores;
}

}  // namespace

std::vector<Fixations> load_fixations(const std::vector<Stimulus>& items,
                                      const std::string& variable, const Work& work) {
  std::vector<Fixations> fixations(items.size());
  Progress progress("reading fixations", int64_t(items.size()), "images");
  share_out(items.size(), work, progress,
            [&](size_t i) { fixations[i] = read_fixations(items[i], variable); });
  return fixations;
}

PonderMaps ponder_maps(NetworkSession& session, const ModelSpec& spec,
                       const std::vector<Stimulus>& items, Size size, const Work& work) {
  // As many images at a time as have the positions of eight for a detector.
  const size_t batch = size_t(std::clamp<int64_t>(8 * 360 * 640 / size.positions(), 1, 8));
  const size_t values = size_t(3 * size.positions());
  const int64_t dense = dense_flops(image_network(spec), size);
  session.expect_memory(int(std::min(batch, items.size())), size);
  PonderMaps result;
  Progress progress("running the network", int64_t(items.size()), "images");
  for (size_t first = 0; first < items.size(); first += batch) {
    const size_t count = std::min(batch, items.size() - first);
    std::vector<float> pixels(count * values);
    share_out(count, work, progress, [&](size_t i) {
      const io::RgbImage image = io::read_image(items[first + i].image);
      fill_network_pixels(image, view_of(image, spec.input, {Framing::kStretched, size}),
                          spec.input, std::span(pixels).subspan(i * values, values));
    });
    const std::vector<ImageResult> images = session.run(pixels_view(pixels, int(count), size));
    for (size_t i = 0; i < count; ++i) {
      check_finite(images[i], items[first + i].image.string());
      result.maps.push_back(ponder_cost_map(images[i]));
      result.flops += double(images[i].flops);
      result.dense_flops += double(dense);
    }
  }
  return result;
}

std::vector<double> search(const std::vector<Map>& ponder_cost,
                           const std::vector<Fixations>& fixations, const Map& center,
                           const std::vector<PostProcess>& settings, const Work& work) {
  std::vector<std::vector<double>> scores(ponder_cost.size());
  Progress progress("searching blur and centre weight", int64_t(ponder_cost.size()), "images");
  share_out(ponder_cost.size(), work, progress, [&](size_t i) {
    // Enlarging is linear, so that each blur and the centre map are enlarged once.
    const Map normal = normalized(ponder_cost[i]);
    const Map large_center = io::resized(center, fixations[i].size);
    Map blurred;
    for (size_t k = 0; k < settings.size(); ++k) {
      if (k == 0 || settings[k].blur != settings[k - 1].blur) {
        blurred = io::resized(gaussian_blur(normal, settings[k].blur), fixations[i].size);
      }
      const Map map = with_center(blurred, large_center, settings[k].center_weight);
      scores[i].push_back(auc_judd(map, fixations[i]));
    }
  });
  std::vector<double> means(settings.size());
  for (const std::vector<double>& image : scores) {
    for (size_t k = 0; k < means.size(); ++k) means[k] += image[k] / double(scores.size());
  }
  return means;
}

std::vector<size_t> other_images(size_t image, size_t count, uint64_t seed) {
  constexpr size_t kOthers = 10;
  std::vector<size_t> pool;
  for (size_t i = 0; i < count; ++i) {
    if (i != image) pool.push_back(i);
  }
  Random random = Random::derived(seed, image);
  keep_sample(pool, kOthers, random);
  return pool;
}

std::vector<std::vector<Scores>> score(const std::vector<MapOf>& predictors,
                                       const std::vector<Fixations>& fixations,
                                       const ScoreOptions& options, const Work& work) {
  std::vector<std::vector<Scores>> all(predictors.size(), std::vector<Scores>(fixations.size()));
  Progress progress("scoring", int64_t(fixations.size()), "images");
  share_out(fixations.size(), work, progress, [&](size_t i) {
    const Size size = fixations[i].size;
    const double sigma =
        options.density_sigma > 0 ? options.density_sigma : kOneDegree * size.width;
    const Truth truth{fixations[i],
                      density(fixations[i], sigma),
                      others_of(i, fixations, options.seed),
                      {.seed = Random::derived(options.seed, i).bits()},
                      options.jitter};
    for (size_t k = 0; k < predictors.size(); ++k) {
      all[k][i] = scores_of(io::resized(predictors[k](i), size), truth);
    }
  });
  return all;
}

}  // namespace sact::saliency
