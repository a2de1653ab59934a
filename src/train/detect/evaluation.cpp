#include "train/detect/evaluation.h"

#include <cmath>

#include "base/error.h"
#include "data/order.h"
#include "model/flops.h"
#include "train/detect/data_loader.h"

namespace sact::train {
namespace {

constexpr int64_t kFields = 6;  // of a detection: label, score, and the corners of its box

/// Of all pictures, [pictures, most, kFields], in pixels of the whole picture; the score of what is
/// not there is 0.
class Found {
 public:
  Found(int64_t pictures, int64_t most)
      : values_(torch::zeros({pictures, most, kFields}, torch::kFloat64)) {}

  void set(int64_t picture, const std::vector<detect::Detection>& detections, float by_x,
           float by_y) {
    auto rows = values_.accessor<double, 3>()[picture];
    for (size_t i = 0; i < detections.size(); ++i) {
      const Box box = detect::scaled(detections[i].box, by_x, by_y);
      const std::array<double, size_t(kFields)> fields = {
          double(detections[i].label), double(detections[i].score), box.x0, box.y0, box.x1, box.y1};
      std::copy(fields.begin(), fields.end(), rows[int64_t(i)].data());
    }
  }

  torch::Tensor& values() { return values_; }

  detect::CocoResults results(const detect::CocoInstances& truth) const {
    detect::CocoResults results{"the detections", {}};
    const auto values = values_.accessor<double, 3>();
    for (int64_t picture = 0; picture < values_.size(0); ++picture) {
      for (int64_t i = 0; i < values_.size(1) && values[picture][i][1] > 0; ++i) {
        const auto row = values[picture][i];
        results.entries.push_back({truth.images[size_t(picture)].id,
                                   truth.categories[size_t(row[0])].id,
                                   {row[2], row[3], row[4] - row[2], row[5] - row[3]},
                                   row[1]});
      }
    }
    return results;
  }

 private:
  torch::Tensor values_;
};

MeanStd moments(double count, double sum, double square) {
  const double mean = sum / count;
  return {mean, std::sqrt(std::max(square / count - mean * mean, 0.0))};
}

}  // namespace

DetectorOutcome evaluate_detector(Detector detector, const detect::DetectionDataset& dataset,
                                  data::CorruptSamples& corrupt, ProcessGroup& group, int workers) {
  const ModelSpec& spec = detector->spec();
  const ModelSpec& extractor = detector->extractor_spec();
  const torch::Device device = detector->parameters().front().device();
  detect::DetectionOptions options;
  options.max_overlap = float(spec.detection->nms_iou);
  Found found(dataset.size(), options.most);
  // Pictures, dense FLOPs, the head's share, and the sum and sum of squares of FLOPs and of every
  // block's units.
  torch::Tensor sums = torch::zeros({5 + 2 * extractor.blocks()}, torch::kFloat64);
  auto totals = sums.accessor<double, 1>();
  auto order = data::epoch_order(dataset.size(), 0, 0, false);
  const auto read = [&](int64_t, int64_t index) {
    return read_sample(dataset, index, *spec.detection);
  };
  SampleLoader loader(dataset.size(), data::evaluation_shard(order, group.rank(), group.size()),
                      read, {workers}, corrupt);
  DetectionSample sample;
  while (loader.next(sample)) {
    group.expect_others();
    if (!sample.pixels.defined()) continue;
    const Size size = sample.size(), whole = dataset.picture_size(sample.index);
    const DetectionOutput output =
        detect(detector, network_input(sample, spec.input, device), options);
    found.set(sample.index, output.detections, float(whole.width) / float(size.width),
              float(whole.height) / float(size.height));
    totals[0] += 1;
    totals[1] += double(dense_flops(extractor, size));
    totals[2] += output.head_share;
    auto add = [&](int quantity, double value) {
      totals[3 + 2 * quantity] += value;
      totals[4 + 2 * quantity] += value * value;
    };
    add(0, double(output.extracted.flops));
    for (int block = 0; block < extractor.blocks(); ++block) {
      add(1 + block, mean_units(output.extracted.blocks[size_t(block)]));
    }
  }
  group.sum(sums);
  group.sum(found.values());
  if (totals[0] == 0) fail("none of the {} pictures for evaluation can be read", dataset.size());
  DetectorOutcome outcome;
  const detect::CocoInstances truth = dataset.truth();
  outcome.metrics = detect::evaluate_coco(truth, found.results(truth), workers).metrics;
  outcome.pictures = int64_t(totals[0]);
  outcome.dense_flops = totals[1] / totals[0];
  outcome.head_share = totals[2] / totals[0];
  outcome.flops = moments(totals[0], totals[3], totals[4]);
  for (int block = 0; block < extractor.blocks(); ++block) {
    outcome.units.push_back(moments(totals[0], totals[5 + 2 * block], totals[6 + 2 * block]));
  }
  return outcome;
}

}  // namespace sact::train
