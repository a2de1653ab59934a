// Images with boxes around objects, ready to train on: what annotations say, made consistent with
// the images that are there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "detect/coco.h"
#include "detect/targets.h"

namespace sact::detect {

/// What was found wrong with annotations and could be mended. Each `first_` names a sample.
struct Repairs {
  int64_t clipped = 0;         // boxes that reach more than a pixel beyond their image
  int64_t dropped = 0;         // boxes without any area in their image
  int64_t missing_images = 0;  // images whose file is not there; they are left out
  std::string first_clipped = {}, first_dropped = {}, first_missing = {};

  /// A line for each kind that there is, for warnings; empty when nothing was wrong.
  std::vector<std::string> lines() const;
};

struct DetectionSet {
  /// Boxes as they were annotated, for evaluation. Categories are in the order of their ids, images
  /// in that of the file. Every image has a name, a size and a file.
  CocoInstances truth;
  std::filesystem::path folder;  // that names of images are relative to
  /// Of each image, in the order of the annotations: boxes inside of the image, with an area. The
  /// label is the category's place in truth.categories. Crowds are there; images without objects
  /// have none.
  std::vector<std::vector<Object>> objects = {};
  Repairs repairs = {};

  std::filesystem::path path(size_t image) const { return folder / truth.images[image].file_name; }
  std::vector<std::string> category_names() const;
};

/// Throws sact::Error for an image without a name or a size, for sets without categories or images,
/// and when none of the images is there.
DetectionSet make_detection_set(CocoInstances annotations, const std::filesystem::path& folder);

/// Throws sact::Error for an image that its annotation describes with another size.
[[noreturn]] void fail_of_size(const std::string& name, Size found, Size annotated);

/// A box as COCO's files have it, and back.
CocoBox coco_box(const Box& box);
Box box_of(const CocoBox& box);

}  // namespace sact::detect
