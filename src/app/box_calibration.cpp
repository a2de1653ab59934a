#include "app/box_calibration.h"

#include <algorithm>

#include "app/detection.h"
#include "app/image_loop.h"
#include "app/photographs.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "detect/box_cuts.h"

namespace sact::app {
namespace {

constexpr double kLowestScore = 0.02;
constexpr int kMostObjects = 1000;
constexpr int64_t kFewestImages = 30;

}  // namespace

BoxCalibration calibrate_boxes(const ModelFile& model, const BoxCalibrationOptions& options) {
  std::vector<Input> inputs;
  for (const int64_t i : evenly(int64_t(options.photographs.size()), options.most)) {
    inputs.push_back(options.photographs[size_t(i)]);
  }
  const auto detectors = open_detectors(model, options.compute, inputs.size());
  BoxCalibration calibration;
  std::vector<detect::FoundObject> found;
  std::vector<float> objectness;  // of all boxes of all images
  const bool whole = run_images(
      {"looking", int(detectors.size()), options.interrupted}, inputs,
      [&](int worker, size_t i) {
        return detectors[size_t(worker)]->sight(
            read_input(inputs[i], {}),
            {kLowestScore, kMostObjects, options.boxes, /*all_boxes=*/true});
      },
      [&](size_t i, ImageOutcome<detect::ObjectDetector::Sighted> image) {
        if (!image.failure.empty()) {
          return log_warning("{}: {}", printable(inputs[i].path.string()), image.failure);
        }
        ++calibration.images;
        const auto& [objects, boxes] = image.result;
        objectness.insert(objectness.end(), boxes.begin(), boxes.end());
        found.insert(found.end(), objects.begin(), objects.end());
      });
  if (!whole) throw Interrupted("the calibration was interrupted, and nothing was written");
  calibration.objects = int64_t(found.size());
  calibration.cuts = detect::measure_box_cuts(found, options.missed);
  if (calibration.cuts.empty() || calibration.images < kFewestImages) {
    fail(
        "{} with {} of a score of {} and more are too few to calibrate a detector: give {} "
        "images or more",
        pluralize(calibration.images, "image"), pluralize(calibration.objects, "object"),
        kLowestScore, kFewestImages);
  }
  calibration.all_boxes = double(objectness.size()) / double(calibration.images);
  for (const BoxCut& cut : calibration.cuts) {
    const auto above = std::count_if(objectness.begin(), objectness.end(),
                                     [&](float value) { return value >= float(cut.objectness); });
    calibration.boxes.push_back(double(above) / double(calibration.images));
  }
  return calibration;
}

io::Json to_json(const BoxCalibration& calibration) {
  io::Json cuts = io::Json::array();
  for (size_t i = 0; i < calibration.cuts.size(); ++i) {
    cuts.push_back({{"score", calibration.cuts[i].score},
                    {"objectness", calibration.cuts[i].objectness},
                    {"boxes", calibration.boxes[i]}});
  }
  return {{"images", calibration.images},
          {"objects", calibration.objects},
          {"all_boxes", calibration.all_boxes},
          {"box_cuts", std::move(cuts)}};
}

report::Table box_table(const BoxCalibration& calibration) {
  report::Table table;
  table.header = {"objects of at least", "objectness", "boxes an image"};
  for (size_t i = 0; i < calibration.cuts.size(); ++i) {
    table.rows.push_back({fmt::format("{:g}", calibration.cuts[i].score),
                          fmt::format("{:.2f}", calibration.cuts[i].objectness),
                          fmt::format("{:.0f}", calibration.boxes[i])});
  }
  return table;
}

}  // namespace sact::app
