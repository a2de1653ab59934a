#include "detect/coco.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "io/json_records.h"

namespace sact::detect {
namespace {

using io::JsonRecord;

const std::vector<io::JsonList> kInstanceLists = {
    {"images", {"id", "file_name", "width", "height"}},
    {"annotations", {"id", "image_id", "category_id", "bbox", "area", "iscrowd"}},
    {"categories", {"id", "name"}},
};
const std::vector<io::JsonList> kResultList = {{"", {"image_id", "category_id", "bbox", "score"}}};

constexpr double kLargestCoordinate = 1e9;
constexpr int64_t kLargestSide = 1'000'000;

/// What messages call an annotation: its place in the list and its id.
std::string annotation_name(const std::string& file, size_t index, int64_t id) {
  return fmt::format("{}: annotations[{}] (id {})", file, index, id);
}

/// `entry` makes the name of the record for messages: text that a million entries do not need.
template <typename Entry>
CocoBox box_of(const JsonRecord& record, const Entry& entry) {
  const auto [x, y, width, height] = record.four_numbers("bbox");
  if (!(width >= 0 && height >= 0)) {
    fail("{}: 'bbox' is {:g}, {:g}, {:g}, {:g}; width and height must not be negative", entry(), x,
         y, width, height);
  }
  // Written so that NaN is refused too.
  if (!(std::max({std::abs(x), std::abs(y), width, height}) < kLargestCoordinate)) {
    fail("{}: 'bbox' is {:g}, {:g}, {:g}, {:g}, which is absurdly large", entry(), x, y, width,
         height);
  }
  return {x, y, width, height};
}

int side_of(const JsonRecord& record, std::string_view field) {
  const int64_t side = record.integer(field);
  if (side < 1 || side > kLargestSide) {
    fail("{}: '{}' must be from 1 to {}; it is {}", record.where(), field, kLargestSide, side);
  }
  return int(side);
}

CocoImage image_of(const JsonRecord& record) {
  CocoImage image{.id = record.integer("id")};
  if (record.has("file_name")) image.file_name = record.text("file_name");
  if (record.has("width") || record.has("height")) {
    image.size = {side_of(record, "height"), side_of(record, "width")};
  }
  return image;
}

CocoObject object_of(const JsonRecord& record, const std::string& file) {
  CocoObject object{.id = record.integer("id"),
                    .image_id = record.integer("image_id"),
                    .category_id = record.integer("category_id")};
  const auto entry = [&] { return annotation_name(file, record.index(), object.id); };
  object.box = box_of(record, entry);
  object.area = record.has("area") ? record.number("area") : object.box.area();
  if (!(object.area >= 0))
    fail("{}: 'area' is {:g}; it must not be negative", entry(), object.area);
  if (record.has("iscrowd")) object.crowd = record.flag("iscrowd");
  return object;
}

/// Refuses the first entry whose id another one before it has.
template <typename Entry>
void check_unique(const std::vector<Entry>& entries, const std::string& file,
                  std::string_view list) {
  std::unordered_set<int64_t> ids;
  ids.reserve(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    if (ids.insert(entries[i].id).second) continue;
    fail("{}: {}[{}] has the id {}, which another entry before it has", file, list, i,
         entries[i].id);
  }
}

template <typename Entry>
std::unordered_set<int64_t> ids_of(const std::vector<Entry>& entries) {
  std::unordered_set<int64_t> ids;
  for (const Entry& entry : entries) ids.insert(entry.id);
  return ids;
}

void check_references(const CocoInstances& instances) {
  const auto images = ids_of(instances.images), categories = ids_of(instances.categories);
  for (size_t i = 0; i < instances.objects.size(); ++i) {
    const CocoObject& object = instances.objects[i];
    const auto refuse = [&](std::string_view field, int64_t id, std::string_view list) {
      fail("{}: '{}' is {}, but '{}' has no entry with that id",
           annotation_name(instances.name, i, object.id), field, id, list);
    };
    if (!images.contains(object.image_id)) refuse("image_id", object.image_id, "images");
    if (!categories.contains(object.category_id)) {
      refuse("category_id", object.category_id, "categories");
    }
  }
}

std::string_view text_of(const WholeFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace

CocoInstances parse_coco_instances(std::string_view text, const std::string& name) {
  CocoInstances instances{.name = name};
  io::read_json_records(text, name, kInstanceLists, [&](size_t list, const JsonRecord& record) {
    switch (list) {
      case 0:
        instances.images.push_back(image_of(record));
        break;
      case 1:
        instances.objects.push_back(object_of(record, name));
        break;
      default:
        instances.categories.push_back({record.integer("id"), record.text("name")});
    }
  });
  check_unique(instances.images, name, "images");
  check_unique(instances.objects, name, "annotations");
  check_unique(instances.categories, name, "categories");
  check_references(instances);
  return instances;
}

CocoInstances read_coco_instances(const std::filesystem::path& path) {
  const WholeFile file(path);
  return parse_coco_instances(text_of(file), path.string());
}

CocoResults parse_coco_results(std::string_view text, const std::string& name) {
  CocoResults results{.name = name};
  io::read_json_records(text, name, kResultList, [&](size_t, const JsonRecord& record) {
    const auto entry = [&record] { return record.where(); };
    results.entries.push_back({record.integer("image_id"), record.integer("category_id"),
                               box_of(record, entry), record.number("score")});
  });
  return results;
}

CocoResults read_coco_results(const std::filesystem::path& path) {
  const WholeFile file(path);
  return parse_coco_results(text_of(file), path.string());
}

}  // namespace sact::detect
