// Finding objects in many images: what is done with each, and what is summed up over all.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/detection.h"
#include "app/inputs.h"
#include "app/picture_folder.h"
#include "detect/coco.h"

namespace sact::app {

/// What goes with every image.
struct DetectionJob {
  const ModelSpec& spec;
  const detect::CocoIds& ids;
  DetectOptions options = {};
  double drawn_score = 0.3;  // objects of at least this score are in the picture
  io::ReadOptions reading = {};
  const PictureFolder* pictures = nullptr;           // none: no pictures
  const detect::CocoInstances* annotated = nullptr;  // the images, in their order, where known
  const std::vector<std::vector<Box>>* true_boxes = nullptr;  // likewise, of each

  /// Everything about one image: reading, networks, picture. sact::Error when its annotation
  /// describes it with another size: boxes could not be compared.
  DetectedFile run(detect::ObjectDetector& detector, const Input& input, size_t index) const;
};

/// What is summed up over the images.
struct DetectionTotals {
  detect::CocoResults results{"the detections", {}};
  int64_t images = 0, objects = 0;
  double flops = 0, dense_flops = 0;                     // of the extractor
  double boxes = 0, box_flops = 0, dense_box_flops = 0;  // of the last block and the head
  PonderByBoxes ponder;                                  // sums over images where it is known
  int64_t ponder_images = 0;
  std::vector<std::pair<std::string, double>> ms;  // of the stages

  /// Objects of classes without a category are no results.
  void add(const detect::CocoIds& ids, const DetectedFile& file);
  /// The number of objects, and means over the images.
  io::Json json() const;
};

/// The boxes of all objects of every image, crowds too.
std::vector<std::vector<Box>> boxes_by_image(const detect::CocoInstances& annotations);

/// The images of annotations, which lie in `folder`. sact::Error when there is no such folder, or
/// an image has no name.
std::vector<Input> annotated_inputs(const detect::CocoInstances& annotations,
                                    const std::filesystem::path& folder);

}  // namespace sact::app
