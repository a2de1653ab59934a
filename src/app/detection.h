// The objects of an image, and what is shown of them: JSON, a picture.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "detect/coco_ids.h"
#include "detect/detector.h"
#include "io/json.h"

namespace sact::app {

/// The mean ponder cost of positions in the boxes of true objects, and of those outside of all.
struct PonderByBoxes {
  double inside = 0, outside = 0;
};
/// None where all positions are of one kind. `boxes` are in pixels of an image of that size.
std::optional<PonderByBoxes> ponder_by_boxes(const Map& ponder_cost, const std::vector<Box>& boxes,
                                             Size image);

/// One image that was run.
struct DetectedFile {
  std::string path;
  int64_t image_id = 0;  // in COCO's files
  Size size;
  detect::DetectedImage result;
  std::optional<PonderByBoxes> ponder;  // where its objects are known
  double load_ms = 0, picture_ms = 0;
  std::string picture;  // the file written for it, or empty

  double network_ms() const { return load_ms + result.ms.total(); }
};

/// Finds the objects of a photograph; `path` names it.
DetectedFile detect_objects(detect::ObjectDetector& detector, const io::RgbImage& photo,
                            const std::string& path, const DetectOptions& options);

io::Json detection_json(const ModelSpec& spec, const detect::CocoIds& ids,
                        const DetectedFile& file);

/// "cat 93 %"
std::string object_text(const ModelSpec& spec, const detect::Detection& detection);
/// The share of the dense extractor's work that it took.
double dense_share(const detect::DetectedImage& result);

/// The photograph with all objects of at least `drawn_score`, beside the ponder cost map.
io::RgbImage detection_picture(const ModelSpec& spec, const DetectedFile& file,
                               const io::RgbImage& photo, double drawn_score);

/// Milliseconds of the stages, by name and in their order.
std::vector<std::pair<std::string, double>> stage_times(const DetectedFile& file);

}  // namespace sact::app
