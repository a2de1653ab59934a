#include "detect/detection_set.h"

#include <algorithm>
#include <system_error>
#include <unordered_map>

#include "base/error.h"
#include "base/file_names.h"
#include "base/text.h"

namespace sact::detect {
namespace {

namespace fs = std::filesystem;

void count(int64_t& counter, std::string& first, const std::string& sample) {
  if (counter++ == 0) first = sample;
}

template <typename Entry>
std::unordered_map<int64_t, size_t> places_by_id(const std::vector<Entry>& entries) {
  std::unordered_map<int64_t, size_t> places;
  for (size_t i = 0; i < entries.size(); ++i) places.emplace(entries[i].id, i);
  return places;
}

void check(const CocoInstances& annotations) {
  if (annotations.images.empty()) fail("{}: has no images", annotations.name);
  if (annotations.categories.empty()) fail("{}: has no categories", annotations.name);
  for (size_t i = 0; i < annotations.images.size(); ++i) {
    const CocoImage& image = annotations.images[i];
    if (!image.file_name.empty() && image.size.positions() > 0) continue;
    fail("{}: images[{}] (id {}) has no {}, which is needed here", annotations.name, i, image.id,
         image.file_name.empty() ? "'file_name'" : "'width' and 'height'");
  }
}

/// Leaves out images whose files are missing, and their objects.
void keep_images_with_files(DetectionSet& set) {
  CocoInstances& truth = set.truth;
  const auto is_missing = [&](const CocoImage& image) {
    const fs::path path =
        file_below(set.folder, image.file_name, fmt::format("{}: image {}", truth.name, image.id));
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) return false;
    count(set.repairs.missing_images, set.repairs.first_missing, path.string());
    return true;
  };
  std::erase_if(truth.images, is_missing);
  if (set.repairs.missing_images == 0) return;
  if (truth.images.empty()) {
    fail("{}: none of its {} is there; the first is expected at {}", truth.name,
         pluralize(set.repairs.missing_images, "image"), set.repairs.first_missing);
  }
  const auto images = places_by_id(truth.images);
  std::erase_if(truth.objects,
                [&](const CocoObject& object) { return !images.contains(object.image_id); });
}

/// The object with its box cut at the image's edges goes to `objects`, or is counted.
void add_object(const CocoObject& object, const CocoImage& image, int32_t label,
                std::vector<Object>& objects, DetectionSet& set) {
  constexpr float kSlip = 1;  // pixels that authors are off by without being wrong
  const Box given = box_of(object.box), inside = clipped(given, image.size);
  const auto sample = [&] {
    return fmt::format("{}: object {} in {}: the box {:g},{:g},{:g},{:g} in {}x{} pixels",
                       set.truth.name, object.id, printable(image.file_name), given.x0, given.y0,
                       given.x1, given.y1, image.size.width, image.size.height);
  };
  Repairs& repairs = set.repairs;
  if (!(area(inside) > 0)) return count(repairs.dropped, repairs.first_dropped, sample());
  const float beyond = std::max({-given.x0, -given.y0, given.x1 - float(image.size.width),
                                 given.y1 - float(image.size.height)});
  if (beyond > kSlip) count(repairs.clipped, repairs.first_clipped, sample());
  objects.push_back({inside, label, object.crowd});
}

}  // namespace

std::vector<std::string> Repairs::lines() const {
  std::vector<std::string> lines;
  const auto add = [&lines](int64_t number, std::string_view one, std::string_view many,
                            std::string_view treatment, const std::string& first) {
    if (number == 0) return;
    lines.push_back(fmt::format("{} and {} {}; the first: {}", pluralize(number, one, many),
                                number == 1 ? "is" : "are", treatment, first));
  };
  add(clipped, "box reaches beyond its image", "boxes reach beyond their images", "clipped",
      first_clipped);
  add(dropped, "box has no area in its image", "boxes have no area in their images",
      "not learned from", first_dropped);
  add(missing_images, "image is not there", "images are not there", "left out", first_missing);
  return lines;
}

std::vector<std::string> DetectionSet::category_names() const {
  std::vector<std::string> names;
  for (const Category& category : truth.categories) names.push_back(category.name);
  return names;
}

void fail_of_size(const std::string& name, Size found, Size annotated) {
  fail("{}: has {}x{} pixels (width x height), but its annotation says {}x{}", name, found.width,
       found.height, annotated.width, annotated.height);
}

CocoBox coco_box(const Box& box) {
  return {box.x0, box.y0, double(box.x1) - double(box.x0), double(box.y1) - double(box.y0)};
}

Box box_of(const CocoBox& box) {
  return {float(box.x), float(box.y), float(box.x + box.width), float(box.y + box.height)};
}

DetectionSet make_detection_set(CocoInstances annotations, const fs::path& folder) {
  check(annotations);
  DetectionSet set{.truth = std::move(annotations), .folder = folder};
  CocoInstances& truth = set.truth;
  std::sort(truth.categories.begin(), truth.categories.end(),
            [](const Category& a, const Category& b) { return a.id < b.id; });
  keep_images_with_files(set);
  set.objects.resize(truth.images.size());
  const auto images = places_by_id(truth.images), labels = places_by_id(truth.categories);
  for (const CocoObject& object : truth.objects) {
    const size_t image = images.at(object.image_id);
    add_object(object, truth.images[image], int32_t(labels.at(object.category_id)),
               set.objects[image], set);
  }
  return set;
}

}  // namespace sact::detect
