// The files of the COCO data set: instance annotations (bounding boxes) and detection results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/size.h"

namespace sact::detect {

/// Upper left corner and size in pixels, in double precision as the files have them: evaluation
/// compares overlaps with thresholds and must not round. See box.h for boxes by their corners.
struct CocoBox {
  double x = 0, y = 0, width = 0, height = 0;
  double area() const { return width * height; }
  bool operator==(const CocoBox&) const = default;
};

struct Category {
  int64_t id = 0;
  std::string name = {};
};

struct CocoImage {
  int64_t id = 0;
  std::string file_name = {};  // empty: not given
  Size size = {};              // 0 x 0: not given
};

struct CocoObject {
  int64_t id = 0, image_id = 0, category_id = 0;
  CocoBox box = {};
  double area = 0;     // of the object's outline, which is less than that of its box
  bool crowd = false;  // the box holds a crowd whose members nobody outlined
};

/// Everything here is consistent: ids are unique and refer to something, boxes and areas are not
/// negative. Lists keep the order of the file.
struct CocoInstances {
  std::string name;  // the file, for messages
  std::vector<Category> categories = {};
  std::vector<CocoImage> images = {};
  std::vector<CocoObject> objects = {};
};

/// Reads {"images": [...], "annotations": [...], "categories": [...]}, whatever else a file has.
/// Width, height and file_name of images may be missing; so may iscrowd (0) and area (that of the
/// box). Throws sact::Error, naming the entry, for anything damaged or inconsistent.
CocoInstances read_coco_instances(const std::filesystem::path& path);
CocoInstances parse_coco_instances(std::string_view text, const std::string& name);

/// The same as a file, whole or not at all. Throws sact::Error when it cannot be written.
void write_coco_instances(const std::filesystem::path& path, const CocoInstances& instances);

struct CocoResult {
  int64_t image_id = 0, category_id = 0;
  CocoBox box = {};
  double score = 0;
};

struct CocoResults {
  std::string name;  // the file, for messages
  std::vector<CocoResult> entries = {};
};

/// Reads [{"image_id": 42, "category_id": 18, "bbox": [x, y, width, height], "score": 0.9}, ...].
/// Throws sact::Error, naming the entry, for anything damaged.
CocoResults read_coco_results(const std::filesystem::path& path);
CocoResults parse_coco_results(std::string_view text, const std::string& name);

void write_coco_results(const std::filesystem::path& path, const CocoResults& results);

}  // namespace sact::detect
