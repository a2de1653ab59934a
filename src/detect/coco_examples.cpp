#include <filesystem>
#include <map>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "detect/examples.h"

namespace sact::detect {
namespace {

namespace fs = std::filesystem;

class CocoExamples : public Examples {
 public:
  CocoExamples(CocoInstances instances, fs::path folder)
      : truth_(std::move(instances)), folder_(std::move(folder)) {
    if (truth_.images.empty()) fail("{}: has no images", truth_.name);
    if (truth_.categories.empty()) fail("{}: has no categories", truth_.name);
    std::map<int64_t, int32_t> labels;
    for (const Category& category : truth_.categories) {
      labels[category.id] = int32_t(class_names_.size());
      class_names_.push_back(category.name);
    }
    std::map<int64_t, size_t> images;
    for (size_t i = 0; i < truth_.images.size(); ++i) {
      const CocoImage& image = truth_.images[i];
      if (image.file_name.empty() || image.size.positions() == 0) {
        fail("{}: image {} has no {}", truth_.name, image.id,
             image.file_name.empty() ? "file_name" : "width and height");
      }
      images[image.id] = i;
    }
    objects_.resize(truth_.images.size());
    int64_t outside = 0;
    for (const CocoObject& object : truth_.objects) {
      const size_t image = images.at(object.image_id);
      const Box box{float(object.box.x), float(object.box.y),
                    float(object.box.x + object.box.width),
                    float(object.box.y + object.box.height)};
      const Box inside = clipped(box, truth_.images[image].size);
      if (!(area(inside) > 0)) {
        ++outside;
        continue;
      }
      objects_[image].push_back({inside, labels.at(object.category_id), object.crowd});
    }
    if (outside > 0) {
      log_warning("{}: {} no area inside of {}; not learned from", truth_.name,
                  outside == 1 ? "one box has" : fmt::format("{} boxes have", outside),
                  outside == 1 ? "its image" : "their images");
    }
  }

  int64_t size() const override { return int64_t(truth_.images.size()); }
  const std::vector<std::string>& class_names() const override { return class_names_; }
  std::string name(int64_t index) const override {
    return (folder_ / truth_.images[size_t(index)].file_name).string();
  }
  Size picture_size(int64_t index) const override { return truth_.images[size_t(index)].size; }
  std::vector<Object> objects(int64_t index) const override { return objects_[size_t(index)]; }
  io::Image load(int64_t index, int min_side) const override {
    io::ReadOptions options;
    options.min_side = min_side;
    io::Image image = io::read_image(name(index), options);
    // Reduced scales round up, by less than a pixel.
    const Size whole = picture_size(index);
    const double shape = double(whole.width) / whole.height;
    const double found = double(image.width) / image.height;
    const double rounding = 1.0 / image.height + shape / image.height;
    if (std::abs(found - shape) > rounding) {
      fail("{}: has {}x{} pixels (width x height), but its annotation says {}x{}", name(index),
           image.width, image.height, whole.width, whole.height);
    }
    return image;
  }
  CocoInstances truth() const override { return truth_; }

 private:
  CocoInstances truth_;
  fs::path folder_;
  std::vector<std::string> class_names_;
  std::vector<std::vector<Object>> objects_;  // of each image
};

}  // namespace

std::unique_ptr<Examples> coco_examples(CocoInstances instances, const std::string& image_folder) {
  return std::make_unique<CocoExamples>(std::move(instances), image_folder);
}

std::unique_ptr<Examples> open_examples(const std::string& data, const std::string& split) {
  if (data.starts_with("synthetic")) return synthetic_examples(data, split);
  const fs::path folder(data);
  const fs::path annotations = folder / "annotations" / fmt::format("instances_{}.json", split);
  if (fs::exists(annotations)) {
    return coco_examples(read_coco_instances(annotations), (folder / split).string());
  }
  if (!fs::is_directory(folder)) fail("{}: there is no such folder", printable(data));
  fail("{}: has no annotations/instances_{}.json", printable(data), printable(split));
}

}  // namespace sact::detect
