#include "detect/coco_ids.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace sact::detect {
namespace {

namespace fs = std::filesystem;

/// Whether the last parts of a path are those of the other.
bool ends_with(const fs::path& path, const fs::path& end) {
  auto part = path.end();
  for (auto wanted = end.end(); wanted != end.begin();) {
    if (part == path.begin() || *--part != *--wanted) return false;
  }
  return true;
}

}  // namespace

CocoIds::CocoIds(const ModelSpec& spec) {
  for (int label = 0; label < spec.classes; ++label) categories_.push_back(label + 1);
}

CocoIds::CocoIds(const ModelSpec& spec, const CocoInstances& instances)
    : annotations_(instances.name) {
  for (const CocoImage& image : instances.images) {
    const fs::path file = image.file_name;
    images_.emplace(file.filename(), Named{file, image.id});
  }
  if (spec.labels.empty()) {
    if (int64_t(instances.categories.size()) != spec.classes) {
      fail("{}: has {}, but the model has {} and no labels to find them by", annotations_,
           pluralize(int64_t(instances.categories.size()), "category", "categories"),
           pluralize(spec.classes, "class", "classes"));
    }
    for (const Category& category : instances.categories) categories_.push_back(category.id);
    std::sort(categories_.begin(), categories_.end());
    return;
  }
  std::map<std::string, int64_t> by_name;
  for (const Category& category : instances.categories) by_name.emplace(category.name, category.id);
  for (const std::string& label : spec.labels) {
    const auto found = by_name.find(label);
    if (found == by_name.end()) {
      unknown_labels_.push_back(label);
      categories_.push_back(std::nullopt);
    } else {
      categories_.push_back(found->second);
    }
  }
  if (unknown_labels_.size() == spec.labels.size()) {
    fail("{}: has no category named as one of the model's classes ('{}'{})", annotations_,
         printable(spec.labels.front()), spec.labels.size() > 1 ? ", ..." : "");
  }
}

int64_t CocoIds::image(const fs::path& path, int64_t number) const {
  if (annotations_.empty()) return number;
  const auto [first, last] = images_.equal_range(path.filename());
  if (first == last) {
    fail("{}: is not among the images of {}", path.string(), annotations_);
  }
  if (std::next(first) == last) return first->second.id;
  std::vector<int64_t> fitting;
  for (auto image = first; image != last; ++image) {
    if (ends_with(path, image->second.file)) fitting.push_back(image->second.id);
  }
  if (fitting.size() != 1) {
    fail("{}: {} has several images of this name, and the path does not say which it is",
         path.string(), annotations_);
  }
  return fitting.front();
}

}  // namespace sact::detect
