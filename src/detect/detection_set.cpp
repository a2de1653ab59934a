#include "detect/detection_set.h"

#include <algorithm>
#include <system_error>
#include <unordered_map>

#include "base/error.h"
#include "base/text.h"

namespace sact::detect {
namespace {

namespace fs = std::filesystem;

std::string box_text(const Box& box) {
  return fmt::format("{:g},{:g},{:g},{:g}", box.x0, box.y0, box.x1, box.y1);
}

void count(int64_t& counter, std::string& first, const std::string& example) {
  if (counter++ == 0) first = example;
}

template <typename Entry>
std::unordered_map<int64_t, size_t> places_by_id(const std::vector<Entry>& entries) {
  std::unordered_map<int64_t, size_t> places;
  for (size_t i = 0; i < entries.size(); ++i) places.emplace(entries[i].id, i);
  return places;
}

/// Which file of the folder an image is, or why that cannot be said.
DetectionImage image_of(const CocoImage& image, size_t index, const CocoInstances& instances,
                        const fs::path& folder) {
  const auto refuse = [&](std::string_view what) {
    fail("{}: images[{}] (id {}) has no {}, which is needed here", instances.name, index, image.id,
         what);
  };
  if (image.file_name.empty()) refuse("'file_name'");
  if (image.size.positions() == 0) refuse("'width' and 'height'");
  return {image.id, folder / image.file_name, image.size};
}

}  // namespace

std::vector<std::string> Repairs::lines() const {
  std::vector<std::string> lines;
  if (clipped > 0) {
    lines.push_back(fmt::format("{} beyond the image and {} clipped; the first: {}",
                                counted(clipped, "box reaches", "boxes reach"),
                                clipped == 1 ? "is" : "are", first_clipped));
  }
  if (dropped > 0) {
    lines.push_back(fmt::format("{} no area inside of the image and {} left out; the first: {}",
                                counted(dropped, "box has", "boxes have"),
                                dropped == 1 ? "is" : "are", first_dropped));
  }
  if (missing_images > 0) {
    lines.push_back(fmt::format("{} not there and {} left out; the first: {}",
                                counted(missing_images, "image is", "images are"),
                                missing_images == 1 ? "is" : "are", first_missing));
  }
  return lines;
}

int64_t DetectionSet::object_count() const {
  int64_t count = 0;
  for (const DetectionImage& image : images) count += int64_t(image.objects.size());
  return count;
}

std::vector<std::string> DetectionSet::category_names() const {
  std::vector<std::string> names;
  for (const Category& category : categories) names.push_back(category.name);
  return names;
}

void add_object(DetectionImage& image, DetectionObject object,
                const std::function<std::string()>& entry, Repairs& repairs) {
  constexpr float kSlip = 1;  // pixels that authors are off by without being wrong
  const Box given = object.box;
  const auto example = [&] {
    return fmt::format("{}: the box {} in the {}x{} image", entry(), box_text(given),
                       image.size.width, image.size.height);
  };
  object.box = clipped(given, image.size);
  if (area(object.box) <= 0) return count(repairs.dropped, repairs.first_dropped, example());
  const float beyond = std::max({-given.x0, -given.y0, given.x1 - float(image.size.width),
                                 given.y1 - float(image.size.height)});
  if (beyond > kSlip) count(repairs.clipped, repairs.first_clipped, example());
  image.objects.push_back(object);
}

void keep_images_with_files(DetectionSet& set) {
  std::vector<DetectionImage> there;
  for (DetectionImage& image : set.images) {
    std::error_code ignored;
    if (fs::is_regular_file(image.path, ignored)) {
      there.push_back(std::move(image));
    } else {
      count(set.repairs.missing_images, set.repairs.first_missing, image.path.string());
    }
  }
  if (there.empty()) {
    fail("{}: none of its {} is there; the first is expected at {}", set.name,
         counted(set.repairs.missing_images, "image"), set.repairs.first_missing);
  }
  set.images = std::move(there);
}

CocoBox coco_box(const Box& box) {
  return {box.x0, box.y0, double(box.x1) - double(box.x0), double(box.y1) - double(box.y0)};
}

Box box_of(const CocoBox& box) {
  return {float(box.x), float(box.y), float(box.x + box.width), float(box.y + box.height)};
}

DetectionSet detection_set_of(const CocoInstances& instances, const fs::path& images) {
  if (instances.images.empty()) fail("{}: has no images", instances.name);
  if (instances.categories.empty()) fail("{}: has no categories", instances.name);
  DetectionSet set{.name = instances.name, .categories = instances.categories};
  std::sort(set.categories.begin(), set.categories.end(),
            [](const Category& a, const Category& b) { return a.id < b.id; });
  for (size_t i = 0; i < instances.images.size(); ++i) {
    set.images.push_back(image_of(instances.images[i], i, instances, images));
  }
  const auto image_places = places_by_id(set.images), categories = places_by_id(set.categories);
  for (size_t i = 0; i < instances.objects.size(); ++i) {
    const CocoObject& object = instances.objects[i];
    add_object(
        set.images[image_places.at(object.image_id)],
        {box_of(object.box), int(categories.at(object.category_id)), object.area, object.crowd,
         object.id},
        [&] { return fmt::format("{}: annotations[{}] (id {})", instances.name, i, object.id); },
        set.repairs);
  }
  keep_images_with_files(set);
  return set;
}

DetectionSet open_coco(const fs::path& instances, const fs::path& images) {
  return detection_set_of(read_coco_instances(instances), images);
}

CocoInstances coco_instances_of(const DetectionSet& set, const fs::path& images) {
  CocoInstances instances{.name = set.name, .categories = set.categories};
  for (const DetectionImage& image : set.images) {
    const fs::path relative = image.path.lexically_relative(images);
    const bool inside = !images.empty() && !relative.empty() && *relative.begin() != "..";
    instances.images.push_back({image.id, (inside ? relative : image.path).string(), image.size});
    for (const DetectionObject& object : image.objects) {
      instances.objects.push_back({object.id, image.id, set.categories[size_t(object.category)].id,
                                   coco_box(object.box), object.area, object.crowd});
    }
  }
  return instances;
}

}  // namespace sact::detect
