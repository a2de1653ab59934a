// Pictures of a folder with annotations of COCO or Pascal VOC.
#include <cmath>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/log.h"
#include "detect/detection_dataset.h"
#include "detect/detection_set.h"
#include "detect/voc.h"

namespace sact::detect {
namespace {

namespace fs = std::filesystem;

class FolderDetectionDataset : public DetectionDataset {
 public:
  explicit FolderDetectionDataset(DetectionSet set)
      : set_(std::move(set)), class_names_(set_.category_names()) {
    for (const std::string& line : set_.repairs.lines()) log_warning("{}", line);
  }

  int64_t size() const override { return int64_t(set_.truth.images.size()); }
  const std::vector<std::string>& class_names() const override { return class_names_; }
  std::string name(int64_t index) const override { return set_.path(size_t(index)).string(); }
  Size picture_size(int64_t index) const override { return set_.truth.images[size_t(index)].size; }
  std::vector<Object> objects(int64_t index) const override { return set_.objects[size_t(index)]; }
  io::RgbImage load(int64_t index, int min_side) const override {
    io::ReadOptions options;
    options.min_side = min_side;
    io::RgbImage image = io::read_image(name(index), options);
    // Reduced scales round up, by less than a pixel.
    const Size whole = picture_size(index);
    const double shape = double(whole.width) / whole.height;
    const double found = double(image.width) / image.height;
    const double rounding = 1.0 / image.height + shape / image.height;
    if (std::abs(found - shape) > rounding) {
      const io::ImageHeader header = io::read_image_header(name(index));  // not the reduced scale
      fail_of_size(name(index), {header.height, header.width}, whole);
    }
    return image;
  }
  CocoInstances truth() const override { return set_.truth; }

 private:
  DetectionSet set_;
  std::vector<std::string> class_names_;
};

}  // namespace

std::unique_ptr<DetectionDataset> coco_dataset(CocoInstances instances,
                                               const std::string& image_folder) {
  return std::make_unique<FolderDetectionDataset>(
      make_detection_set(std::move(instances), image_folder));
}

std::unique_ptr<DetectionDataset> open_detection_dataset(const std::string& data,
                                                         const std::string& split) {
  if (data.starts_with("synthetic")) return synthetic_detection_dataset(data, split);
  const fs::path folder(data);
  const fs::path annotations = folder / "annotations" / fmt::format("instances_{}.json", split);
  std::error_code ignored;
  if (fs::exists(annotations, ignored)) {
    return coco_dataset(read_coco_instances(annotations), (folder / split).string());
  }
  if (is_voc(folder)) return coco_dataset(read_voc({folder, split}), data);
  if (!fs::is_directory(folder, ignored)) {
    fail(
        "{}: there is no such folder; one with annotations/instances_{}.json is needed here, or "
        "with "
        "the layout of Pascal VOC, or 'synthetic' for the built-in data set",
        printable(data), split);
  }
  fail(
      "{}: has no annotations/instances_{}.json, nor the layout of Pascal VOC (Annotations and "
      "JPEGImages)",
      printable(data), printable(split));
}

}  // namespace sact::detect
