#include "base/error.h"
#include "data/synthetic_dataset.h"
#include "detect/detection_dataset.h"
#include "detect/detection_set.h"

namespace sact::detect {
namespace {

constexpr int kMostObjects = 3;

class SyntheticDetectionDataset : public DetectionDataset {
 public:
  SyntheticDetectionDataset(const std::string& description, const std::string& split)
      : description_(description), made_(data::parse_synthetic(description)) {
    if (split != "train" && split != "val") {
      fail("{}: has the splits train and val, but no '{}'", description, split);
    }
    first_ = split == "train" ? 0 : data::kFirstSyntheticVal;
    count_ = split == "train" ? made_.train_count : made_.val_count;
    for (std::string_view name : data::synthetic_class_names()) class_names_.emplace_back(name);
  }

  int64_t size() const override { return count_; }
  const std::vector<std::string>& class_names() const override { return class_names_; }
  std::string name(int64_t index) const override {
    return fmt::format("{} picture {}", description_, index);
  }
  Size picture_size(int64_t) const override {
    return {made_.pictures.height, made_.pictures.width};
  }
  std::vector<Object> objects(int64_t index) const override {
    std::vector<Object> objects;
    for (const data::SyntheticObject& object : scene(index).objects) {
      objects.push_back({object.box, object.label, false});
    }
    return objects;
  }
  io::RgbImage load(int64_t index, int) const override { return scene(index).image; }
  CocoInstances truth() const override;

 private:
  data::SyntheticScene scene(int64_t index) const {
    return data::synthetic_scene(made_.pictures, first_ + index, 1, kMostObjects);
  }

  std::string description_;
  data::SyntheticDescription made_;
  int64_t first_ = 0, count_ = 0;
  std::vector<std::string> class_names_;
};

CocoInstances SyntheticDetectionDataset::truth() const {
  CocoInstances truth{description_};
  for (size_t label = 0; label < class_names_.size(); ++label) {
    truth.categories.push_back({int64_t(label) + 1, class_names_[label]});
  }
  for (int64_t index = 0; index < size(); ++index) {
    truth.images.push_back({index + 1, name(index), picture_size(index)});
    for (const Object& object : objects(index)) {
      const CocoBox box = coco_box(object.box);
      truth.objects.push_back(
          {int64_t(truth.objects.size()) + 1, index + 1, object.label + 1, box, box.area(), false});
    }
  }
  return truth;
}

}  // namespace

std::unique_ptr<DetectionDataset> synthetic_detection_dataset(const std::string& description,
                                                              const std::string& split) {
  return std::make_unique<SyntheticDetectionDataset>(description, split);
}

}  // namespace sact::detect
