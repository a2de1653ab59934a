#include <filesystem>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "detect/examples.h"
#include "detect/voc.h"

namespace sact::detect {
namespace {

namespace fs = std::filesystem;

class SetExamples : public Examples {
 public:
  explicit SetExamples(DetectionSet set)
      : set_(std::move(set)), class_names_(set_.category_names()) {
    for (const std::string& line : set_.repairs.lines()) log_warning("{}", line);
  }

  int64_t size() const override { return int64_t(set_.images.size()); }
  const std::vector<std::string>& class_names() const override { return class_names_; }
  std::string name(int64_t index) const override { return image(index).path.string(); }
  Size picture_size(int64_t index) const override { return image(index).size; }
  std::vector<Object> objects(int64_t index) const override {
    std::vector<Object> objects;
    for (const DetectionObject& object : image(index).objects) {
      objects.push_back({object.box, object.category, object.crowd});
    }
    return objects;
  }
  io::Image load(int64_t index, int min_side) const override {
    io::ReadOptions options;
    options.min_side = min_side;
    io::Image read = io::read_image(image(index).path, options);
    // Reduced scales round up, by less than a pixel.
    const Size whole = image(index).size;
    const double shape = double(whole.width) / whole.height;
    const double found = double(read.width) / read.height;
    if (std::abs(found - shape) > (1 + shape) / read.height) {
      fail("{}: has {}x{} pixels (width x height), but its annotation says {}x{}", name(index),
           read.width, read.height, whole.width, whole.height);
    }
    return read;
  }
  CocoInstances truth() const override { return coco_instances_of(set_); }

 private:
  const DetectionImage& image(int64_t index) const { return set_.images[size_t(index)]; }

  DetectionSet set_;
  std::vector<std::string> class_names_;
};

}  // namespace

std::unique_ptr<Examples> examples_of(DetectionSet set) {
  return std::make_unique<SetExamples>(std::move(set));
}

std::unique_ptr<Examples> open_examples(const std::string& data, const std::string& split,
                                        const std::vector<std::string>& classes) {
  if (data.starts_with("synthetic")) return synthetic_examples(data, split);
  const fs::path folder(data);
  if (!fs::is_directory(folder)) fail("{}: there is no such folder", printable(data));
  const fs::path annotations = folder / "annotations" / fmt::format("instances_{}.json", split);
  if (fs::exists(annotations)) return examples_of(open_coco(annotations, folder / split));
  if (fs::is_directory(folder / "Annotations")) {
    return examples_of(open_voc({folder, split, classes}));
  }
  fail("{}: has neither annotations/instances_{}.json (COCO) nor Annotations/ (Pascal VOC)",
       printable(data), printable(split));
}

}  // namespace sact::detect
