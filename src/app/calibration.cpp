#include "app/calibration.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/threads.h"
#include "evaluation/tally.h"
#include "measure/benchmark.h"
#include "model/flops.h"
#include "model/hard_budget.h"

namespace sact::app {
namespace {

/// The images that somebody named, all of one class.
class Photographs : public data::Dataset {
 public:
  explicit Photographs(const std::vector<Input>& inputs) : inputs_(inputs) {}

  int64_t size() const override { return int64_t(inputs_.size()); }
  const std::vector<std::string>& class_names() const override { return names_; }
  std::string sample_name(int64_t index) const override { return at(index).path.string(); }
  int label(int64_t) const override { return 0; }
  data::Sample load(int64_t index, int) const override {
    if (!at(index).error.empty()) fail("{}", at(index).error);
    return {read_input(at(index)), 0};
  }

 private:
  const Input& at(int64_t index) const { return inputs_[size_t(index)]; }

  const std::vector<Input>& inputs_;
  std::vector<std::string> names_ = {"photograph"};
};

/// `count` of the samples at most, at even distances.
std::vector<int64_t> evenly(int64_t samples, int64_t count) {
  count = std::min(samples, count);
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < count; ++i) chosen.push_back(i * samples / count);
  return chosen;
}

/// What one shift gave.
struct Measured {
  DialPoint point;
  std::vector<int> classes;  // of every image
  double accuracy = 0;       // where images have labels
};

/// Runs a network over the images, again and again.
class Runs {
 public:
  Runs(const CalibrationOptions& options, const evaluation::PreparedImages& images)
      : options_(options), images_(images) {}

  std::shared_ptr<const LoadedNetwork> load(const NetworkSource& source) const {
    const Compute& compute = options_.compute;
    return backends()
        .choose(compute.request())
        .load(source, {compute.device, compute.precision, thread_count(compute.threads), {}});
  }

  /// Calls use(result) for every image of the first `count`.
  void run(const LoadedNetwork& network, const HaltingControl& halting, int64_t count,
           Progress& progress, const std::function<void(const ImageResult&)>& use) const {
    const auto session = network.session(thread_count(options_.compute.threads), halting);
    const InputView all = pixels_view(images_.pixels, int(images_.count()), images_.size);
    const int batch = options_.data.batch;
    for (int first = 0; first < count; first += batch) {
      if (options_.data.interrupted && options_.data.interrupted()) {
        throw Interrupted("the calibration was interrupted, and nothing was written");
      }
      const int number = int(std::min<int64_t>(batch, count - first));
      for (const ImageResult& result : session->run(all.part(first, number))) {
        check_finite(result, "an image");
        use(result);
      }
      progress.advance(number);
    }
  }

  std::vector<int> classes(const LoadedNetwork& network, Progress& progress) const {
    std::vector<int> classes;
    run(network, {}, images_.count(), progress, [&](const ImageResult& result) {
      classes.push_back(top_classes(result.logits, 1).front().index);
    });
    return classes;
  }

  const evaluation::PreparedImages& images() const { return images_; }

 private:
  const CalibrationOptions& options_;
  const evaluation::PreparedImages& images_;
};

double agreement(const std::vector<int>& found, const std::vector<int>& right) {
  int64_t equal = 0;
  for (size_t i = 0; i < right.size(); ++i) equal += found[i] == right[i];
  return double(equal) / double(right.size());
}

/// On the first `count` images.
Measured measure_shift(const Runs& runs, const LoadedNetwork& network, const ModelSpec& spec,
                       double shift, int64_t count, Progress& progress) {
  const evaluation::PreparedImages& images = runs.images();
  evaluation::Tally tally(spec.blocks());
  Measured measured;
  runs.run(network, {shift}, count, progress, [&](const ImageResult& result) {
    tally.add(result, images.labels[measured.classes.size()]);
    measured.classes.push_back(top_classes(result.logits, 1).front().index);
  });
  const EvalOutcome outcome = tally.outcome(images.size, count);
  const double dense = double(dense_flops(spec, images.size));
  measured.point.shift = shift;
  measured.point.flops_share = {outcome.flops.mean / dense, outcome.flops.std / dense};
  for (const MeanStd& units : outcome.units) measured.point.units.push_back(units.mean);
  measured.accuracy = outcome.accuracy;
  return measured;
}

/// The largest difference of shares between neighbours that are not next to each other already.
std::map<double, double>::const_iterator widest_gap(const std::map<double, double>& shares) {
  constexpr double kClose = 0.02;  // shifts
  auto widest = shares.end();
  double gap = 0;
  for (auto at = shares.begin(); std::next(at) != shares.end(); ++at) {
    const auto next = std::next(at);
    if (next->first - at->first < kClose || at->second - next->second <= gap) continue;
    gap = at->second - next->second;
    widest = at;
  }
  return widest;
}

double interpolated_shift(const std::map<double, double>& shares, double wanted) {
  for (auto at = shares.begin(); std::next(at) != shares.end(); ++at) {
    const auto next = std::next(at);
    if (at->second < wanted || next->second > wanted || at->second == next->second) continue;
    return at->first +
           (at->second - wanted) / (at->second - next->second) * (next->first - at->first);
  }
  return 0;
}

/// Moves an end of `shares` in for as long as that changes nothing, and measures between it and its
/// neighbour until a straight line between the two is near enough.
template <typename End>
void tighten(std::map<double, double>& shares, End end,
             const std::function<double(double shift)>& share_at, double same, double step) {
  constexpr int kMost = 10;
  for (int i = 0; i < kMost && shares.size() > 1; ++i) {
    const auto [outer, inner] = end(shares);
    if (std::abs(outer->second - inner->second) < step) return;
    const double middle = (outer->first + inner->first) / 2, share = share_at(middle);
    if (std::abs(share - outer->second) <= same) shares.erase(outer);
    shares[middle] = share;
  }
}

void check_dense(const ModelFile& dense, const ModelSpec& spec) {
  expect_classifier(dense);
  if (dense.spec().classes != spec.classes) {
    fail("{}: has {}, but the network to calibrate has {}: their answers cannot be compared",
         dense.name(), pluralize(dense.spec().classes, "class", "classes"), spec.classes);
  }
}

}  // namespace

std::vector<double> choose_shifts(const std::function<double(double shift)>& share_at, double least,
                                  double most, int points) {
  constexpr double kFarthest =
      65536;  // networks that were trained with decisions have steep scores
  constexpr size_t kMostMeasured = 40;
  const double near_end = 0.01 * (most - least);
  std::map<double, double> shares = {{0, share_at(0)}};
  for (double shift = 1; shares.rbegin()->second > least + near_end && shift <= kFarthest;
       shift *= 4) {
    shares[shift] = share_at(shift);
  }
  for (double shift = -1; shares.begin()->second < most - near_end && shift >= -kFarthest;
       shift *= 4) {
    shares[shift] = share_at(shift);
  }
  while (shares.size() < kMostMeasured) {
    const auto gap = widest_gap(shares);
    if (gap == shares.end() ||
        gap->second - std::next(gap)->second < 0.75 * (most - least) / (points - 1)) {
      break;
    }
    const double middle = (gap->first + std::next(gap)->first) / 2;
    shares[middle] = share_at(middle);
  }
  const double same = 0.002 * (most - least), step = 0.25 * (most - least) / (points - 1);
  auto first = [](auto& all) { return std::pair(all.begin(), std::next(all.begin())); };
  auto last = [](auto& all) { return std::pair(std::prev(all.end()), std::prev(all.end(), 2)); };
  tighten(shares, first, share_at, same, step);
  tighten(shares, last, share_at, same, step);
  const double largest = shares.begin()->second, smallest = shares.rbegin()->second;
  std::vector<double> shifts = {0, shares.begin()->first, shares.rbegin()->first};
  auto add = [&](double steps) {
    const double wanted = largest + (smallest - largest) * steps / (points - 1);
    shifts.push_back(std::round(interpolated_shift(shares, wanted) * 100) / 100);
  };
  for (int i = 1; i + 1 < points; ++i) add(i);
  add(0.4);  // at the ends work changes slower and slower
  add(points - 1.4);
  std::sort(shifts.begin(), shifts.end());
  shifts.erase(std::unique(shifts.begin(), shifts.end()), shifts.end());
  return shifts;
}

Calibration calibrate(const ModelFile& model, const CalibrationOptions& options) {
  constexpr int64_t kForChoosing = 32;  // images
  const ModelSpec& spec = model.spec();
  const Photographs photographs(options.photographs);
  const bool labelled = options.photographs.empty();
  const auto labelled_data = labelled ? evaluation::open_data(options.data, spec) : nullptr;
  const data::Dataset& dataset =
      labelled ? *labelled_data : static_cast<const data::Dataset&>(photographs);
  std::optional<ModelFile> dense;
  if (!options.dense.empty()) check_dense(dense.emplace(options.dense), spec);
  // Images that stand side by side belong to one class: a few of the first would not do.
  std::vector<int64_t> samples = evenly(dataset.size(), options.most);
  const std::vector<int64_t> first = evenly(int64_t(samples.size()), kForChoosing);
  for (size_t i = 0; i < first.size(); ++i) std::swap(samples[i], samples[size_t(first[i])]);
  const evaluation::PreparedImages images =
      evaluation::prepare_images(dataset, samples, options.size, spec, options.data);
  const Runs runs(options, images);
  const auto network = runs.load(image_network_of(model));

  std::vector<double> shifts = options.shifts;
  if (shifts.empty()) {
    Progress progress("choosing shifts", 20 * std::min(images.count(), kForChoosing), "images");
    const double flops = double(dense_flops(spec, options.size));
    shifts = choose_shifts(
        [&](double shift) {
          return measure_shift(runs, *network, spec, shift, std::min(images.count(), kForChoosing),
                               progress)
              .point.flops_share.mean;
        },
        HardBudget::smallest(spec, options.size),
        1 + double(halting_flops(spec, options.size)) / flops, options.points);
    progress.finish();
  }
  Progress progress("calibrating", images.count() * int64_t(shifts.size() + 1 + (dense ? 1 : 0)),
                    "images");
  const std::vector<int> unhalted =
      runs.classes(*runs.load(measure::dense_network(model)), progress);
  std::vector<int> of_dense;
  if (dense) of_dense = runs.classes(*runs.load(image_network_of(*dense)), progress);
  Calibration calibration;
  calibration.dial.size = options.size;
  calibration.dial.images = images.count();
  for (const double shift : shifts) {
    Measured measured = measure_shift(runs, *network, spec, shift, images.count(), progress);
    measured.point.agreement = agreement(measured.classes, unhalted);
    if (dense) measured.point.dense_agreement = agreement(measured.classes, of_dense);
    if (labelled) measured.point.accuracy = measured.accuracy;
    calibration.dial.points.push_back(std::move(measured.point));
  }
  progress.finish();
  calibration.corrected = make_monotone(calibration.dial.points);
  return calibration;
}

}  // namespace sact::app
