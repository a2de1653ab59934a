#include "app/detection.h"

#include <algorithm>
#include <filesystem>

#include "app/prediction.h"
#include "base/error.h"
#include "base/text.h"
#include "model/detection.h"
#include "report/detection_picture.h"

namespace sact::app {

DetectedFile detect_objects(detect::ObjectDetector& detector, const io::RgbImage& photo,
                            const std::string& path, const DetectOptions& options) {
  DetectedFile file;
  file.path = path;
  file.size = {photo.height, photo.width};
  file.result = detector.detect(photo, options);
  return file;
}

std::optional<PonderByBoxes> ponder_by_boxes(const Map& ponder_cost, const std::vector<Box>& boxes,
                                             Size image) {
  PonderByBoxes sums;
  int64_t inside = 0, outside = 0;
  for (int y = 0; y < ponder_cost.height; ++y) {
    const double at_y = (y + 0.5) * image.height / ponder_cost.height;
    for (int x = 0; x < ponder_cost.width; ++x) {
      const double at_x = (x + 0.5) * image.width / ponder_cost.width;
      const bool covered = std::any_of(boxes.begin(), boxes.end(), [&](const Box& box) {
        return at_x >= box.x0 && at_x < box.x1 && at_y >= box.y0 && at_y < box.y1;
      });
      (covered ? sums.inside : sums.outside) += double(ponder_cost.at(y, x));
      ++(covered ? inside : outside);
    }
  }
  if (inside == 0 || outside == 0) return std::nullopt;
  return PonderByBoxes{sums.inside / double(inside), sums.outside / double(outside)};
}

double dense_share(const detect::DetectedImage& result) {
  return double(result.extractor.flops) / double(result.dense_flops);
}

std::string object_text(const ModelSpec& spec, const detect::Detection& detection) {
  return fmt::format("{} {:.0f} %", printable(spec.label(detection.label)),
                     100 * double(detection.score));
}

std::vector<std::pair<std::string, double>> stage_times(const DetectedFile& file) {
  const DetectorTimes& ms = file.result.ms;
  return {{"load", file.load_ms},      {"scale", ms.scale},         {"extractor", ms.extractor},
          {"proposals", ms.proposals}, {"crops", ms.crops},         {"boxes", ms.boxes},
          {"rest", ms.rest},           {"picture", file.picture_ms}};
}

io::Json detection_json(const ModelSpec& spec, const detect::CocoIds& ids,
                        const DetectedFile& file) {
  const detect::DetectedImage& result = file.result;
  io::Json detections = io::Json::array();
  for (const detect::Detection& detection : result.detections) {
    const Box& box = detection.box;
    const std::optional<int64_t> category = ids.category(detection.label);
    detections.push_back({{"category_id", category ? io::Json(*category) : io::Json(nullptr)},
                          {"label", spec.label(detection.label)},
                          {"bbox", {box.x0, box.y0, box.width(), box.height()}},
                          {"score", detection.score}});
  }
  io::Json ms = io::Json::object();
  for (const auto& [stage, time] : stage_times(file)) ms[stage] = time;
  return {{"path", file.path},
          {"image_id", file.image_id},
          {"height", file.size.height},
          {"width", file.size.width},
          {"scaled_height", result.scaled.height},
          {"scaled_width", result.scaled.width},
          {"detections", std::move(detections)},
          {"proposals", result.proposals()},
          {"ponder_cost", ponder_cost(result.extractor)},
          {"blocks", blocks_json(extractor_spec(spec), result.extractor)},
          {"flops", result.extractor.flops},
          {"dense_flops", result.dense_flops},
          {"box_flops", result.box_flops},
          {"dense_box_flops", result.dense_box_flops},
          {"ms", std::move(ms)},
          {"map", file.picture.empty() ? io::Json(nullptr) : io::Json(file.picture)}};
}

io::RgbImage detection_picture(const ModelSpec& spec, const DetectedFile& file,
                               const io::RgbImage& photo, double drawn_score) {
  report::DetectionPicture picture;
  picture.photo = photo;
  picture.ponder_cost = ponder_cost_map(file.result.extractor);
  for (const detect::Detection& detection : file.result.detections) {
    if (double(detection.score) < drawn_score) continue;
    picture.objects.push_back({detection.box, detection.label, object_text(spec, detection)});
  }
  picture.title = printable(std::filesystem::path(file.path).filename().string());
  picture.subtitle = fmt::format(
      "extractor: {} = {:.0f} % of the dense one; {} looked at; {}",
      format_flops(double(file.result.extractor.flops)), 100 * dense_share(file.result),
      pluralize(file.result.proposals(), "proposal"), format_duration(file.network_ms() / 1000));
  picture.caption =
      fmt::format("{} of at least {:.0f} %", pluralize(int64_t(picture.objects.size()), "object"),
                  100 * drawn_score);
  return report::draw_detection_picture(picture);
}

}  // namespace sact::app
