// Images with boxes around objects: what detectors are trained and tested on, whatever files it
// came from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/size.h"
#include "detect/box.h"
#include "detect/coco.h"

namespace sact::detect {

struct DetectionObject {
  Box box;             // inside of the image, with an area
  int category = 0;    // its place in DetectionSet::categories, not its id
  double area = 0;     // of the outline where there is one, otherwise of the box
  bool crowd = false;  // nothing to learn or to find, and no background either
  int64_t id = 0;
};

struct DetectionImage {
  int64_t id = 0;
  std::filesystem::path path;
  Size size;                                  // as annotated; boxes are in its pixels
  std::vector<DetectionObject> objects = {};  // in the order of the file; often none
};

/// What was found wrong with annotations and could be mended. Each `first_` names an example.
struct Repairs {
  int64_t clipped = 0;         // boxes that reach more than a pixel beyond their image
  int64_t dropped = 0;         // boxes without any area in their image
  int64_t missing_images = 0;  // images whose file is not there; they are left out
  std::string first_clipped = {}, first_dropped = {}, first_missing = {};

  /// A line for each kind that there is, for warnings; empty when nothing was wrong.
  std::vector<std::string> lines() const;
};

struct DetectionSet {
  std::string name;                       // a file or folder, for messages
  std::vector<Category> categories = {};  // by id
  std::vector<DetectionImage> images = {};
  Repairs repairs = {};

  int64_t object_count() const;
  std::vector<std::string> category_names() const;
};

/// Reads COCO instance annotations; `images` is the folder that their file names are relative to.
/// Throws sact::Error for what read_coco_instances refuses, for an image without a name or a size,
/// for sets without categories or images, and when none of the images is there.
DetectionSet open_coco(const std::filesystem::path& instances, const std::filesystem::path& images);
DetectionSet detection_set_of(const CocoInstances& instances, const std::filesystem::path& images);

/// The set as COCO's annotations, for evaluation or a file. Names of images are relative to
/// `images` where they lie in it.
CocoInstances coco_instances_of(const DetectionSet& set, const std::filesystem::path& images = {});

/// A box as detection results have it, and back.
CocoBox coco_box(const Box& box);
Box box_of(const CocoBox& box);

/// For readers: the object with its box cut at the image's edges is added to the image, or counted
/// as dropped. `entry` makes its name for messages, where one is needed.
void add_object(DetectionImage& image, DetectionObject object,
                const std::function<std::string()>& entry, Repairs& repairs);

/// For readers: leaves out images whose files are missing; throws when that leaves none.
void keep_images_with_files(DetectionSet& set);

}  // namespace sact::detect
