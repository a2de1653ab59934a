// Pictures with their objects, as detectors are trained and evaluated on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/size.h"
#include "detect/coco.h"
#include "detect/targets.h"
#include "io/image.h"

namespace sact::detect {

/// Immutable once made; every member may be called from several threads at once.
class DetectionDataset {
 public:
  virtual ~DetectionDataset() = default;

  virtual int64_t size() const = 0;
  /// By label; there is at least one class.
  virtual const std::vector<std::string>& class_names() const = 0;
  /// What messages call a sample: a path, or the set and an index.
  virtual std::string name(int64_t index) const = 0;
  /// Of the whole picture.
  virtual Size picture_size(int64_t index) const = 0;
  /// In the pixels of the whole picture.
  virtual std::vector<Object> objects(int64_t index) const = 0;
  /// Decodes a picture, perhaps at a reduced scale whose shorter side still has `min_side` pixels.
  /// Throws sact::Error when it cannot be read or has another shape than picture_size().
  virtual io::RgbImage load(int64_t index, int min_side) const = 0;

  /// What evaluation compares with. Its images and categories are in the order of indices and
  /// labels.
  virtual CocoInstances truth() const = 0;
};

/// Images of a folder with COCO annotations, as make_detection_set() mends them; warnings count
/// what it did.
std::unique_ptr<DetectionDataset> coco_dataset(CocoInstances instances,
                                               const std::string& image_folder);

/// "synthetic...", a folder with annotations/instances_SPLIT.json and the images in SPLIT/, or one
/// in the layout of Pascal VOC with ImageSets/Main/SPLIT.txt.
/// Throws sact::Error when there is no such data.
std::unique_ptr<DetectionDataset> open_detection_dataset(const std::string& data,
                                                         const std::string& split);

/// The built-in pictures with one to three objects each: "synthetic", or as
/// data::parse_synthetic() reads it.
std::unique_ptr<DetectionDataset> synthetic_detection_dataset(const std::string& description,
                                                              const std::string& split);

}  // namespace sact::detect
