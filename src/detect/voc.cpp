#include "detect/voc.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/file_names.h"
#include "base/parallel.h"
#include "data/fields.h"
#include "data/voc_xml.h"

namespace sact::detect {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

fs::path list_file(const VocOptions& options) {
  const std::string file = options.list + ".txt";
  const fs::path sets = options.root / "ImageSets";
  for (const fs::path& path : {fs::path(options.list), sets / "Main" / file, sets / file}) {
    if (is_file(path)) return path;
  }
  fail("{}: there is no such list of images, and no {}", options.list,
       (sets / "Main" / file).string());
}

std::vector<std::string> names_in_list(const fs::path& path) {
  constexpr uint64_t kMaxBytes = 256 << 20;
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const std::string& line : data::read_filled_lines(path, kMaxBytes)) {
    names.push_back(line.substr(0, line.find_first_of(" \t")));
    if (!stays_below(names.back())) {
      fail("{}: names the image '{}'; names are relative and without '..'", path.string(),
           printable(names.back()));
    }
    if (!seen.insert(names.back()).second) {
      fail("{}: has '{}' twice", path.string(), printable(names.back()));
    }
  }
  if (names.empty()) fail("{}: names no images", path.string());
  return names;
}

std::vector<std::string> names_of_annotations(const fs::path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() == ".xml") names.push_back(entry->path().stem().string());
  }
  if (error) {
    fail("{}: cannot be listed: {}; expected the layout of Pascal VOC (Annotations, JPEGImages)",
         directory.string(), error.message());
  }
  if (names.empty()) fail("{}: has no XML files", directory.string());
  std::sort(names.begin(), names.end());
  return names;
}

data::VocAnnotation read_annotation(const fs::path& path) {
  constexpr uint64_t kMaxBytes = 16 << 20;
  const auto bytes = read_file(path, kMaxBytes);
  const std::string name = path.string();
  data::VocAnnotation annotation =
      data::parse_voc_objects({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, name);
  if (annotation.image.positions() == 0) {
    fail("{}: gives no <size> of the image, which is needed here", name);
  }
  if (annotation.objects_without_box > 0) fail("{}: an <object> has no <bndbox>", name);
  for (const data::VocObject& object : annotation.objects) {
    if (object.name.empty()) fail("{}: an <object> has no <name>", name);
  }
  return annotation;
}

/// The photograph of that name below the root, whatever its ending; where there is none, the usual
/// one.
std::string image_file(const fs::path& root, const std::string& name) {
  const std::string stem = "JPEGImages/" + name;
  for (const char* ending : {".jpg", ".jpeg", ".png", ".JPG", ".JPEG", ".PNG"}) {
    if (is_file(root / (stem + ending))) return stem + ending;
  }
  return stem + ".jpg";
}

/// Names in all annotations of a folder. What is wrong with one that no list names does no harm.
std::vector<std::string> found_categories(const fs::path& directory) {
  const std::vector<std::string> files = names_of_annotations(directory);
  std::vector<data::VocAnnotation> annotations(files.size());
  run_in_parallel(files.size(), 0, [&](size_t i) {
    try {
      annotations[i] = read_annotation(directory / (files[i] + ".xml"));
    } catch (const Error&) {
    }
  });
  std::set<std::string> names;
  for (const data::VocAnnotation& annotation : annotations) {
    for (const data::VocObject& object : annotation.objects) names.insert(object.name);
  }
  return {names.begin(), names.end()};
}

/// Ids by name.
using CategoryIds = std::map<std::string, int64_t>;

CategoryIds number_categories(const std::vector<std::string>& names) {
  CategoryIds ids;
  for (const std::string& name : names) {
    if (!ids.emplace(name, int64_t(ids.size()) + 1).second) {
      fail("the category '{}' is given twice", printable(name));
    }
  }
  return ids;
}

/// From corners that count pixels from 1, the last included.
CocoBox box_from(const std::array<double, 4>& corners, const std::string& file) {
  const auto [x0, y0, x1, y1] = corners;
  constexpr double kLargest = 1e7;
  const bool usable =
      x0 <= x1 && y0 <= y1 && std::min(x0, y0) > -kLargest && std::max(x1, y1) < kLargest;
  if (!usable) {
    fail(
        "{}: the box {:g},{:g},{:g},{:g} is wrong: xmin must not be above xmax, nor ymin above "
        "ymax",
        file, x0, y0, x1, y1);
  }
  const auto from_one = [](double at) { return at >= 0 ? std::max(at - 1, 0.0) : at; };
  return {from_one(x0), from_one(y0), x1 - from_one(x0), y1 - from_one(y0)};
}

CocoObject object_from(const data::VocObject& object, const CategoryIds& categories,
                       const std::string& file) {
  const auto category = categories.find(object.name);
  if (category == categories.end()) {
    std::vector<std::string> known;
    for (const auto& [name, id] : categories) known.push_back(name);
    fail("{}: has the category '{}', which is not among those given: {}", file,
         printable(object.name, 60), data::listed(known));
  }
  const CocoBox box = box_from(object.corners, file);
  return {
      .category_id = category->second, .box = box, .area = box.area(), .crowd = object.difficult};
}

}  // namespace

bool is_voc(const fs::path& root) {
  std::error_code ignored;
  return fs::is_directory(root / "Annotations", ignored) &&
         fs::is_directory(root / "JPEGImages", ignored);
}

CocoInstances read_voc(const VocOptions& options) {
  const fs::path directory = options.root / "Annotations";
  const std::vector<std::string> names =
      options.list.empty() ? names_of_annotations(directory) : names_in_list(list_file(options));
  std::vector<data::VocAnnotation> annotations(names.size());
  run_in_parallel(names.size(), 0, [&](size_t i) {
    annotations[i] = read_annotation(directory / (names[i] + ".xml"));
  });
  CocoInstances instances{.name = options.root.string()};
  const std::vector<std::string> category_names =
      options.categories.empty() ? found_categories(directory) : options.categories;
  const CategoryIds categories = number_categories(category_names);
  for (const std::string& name : category_names) {
    instances.categories.push_back({categories.at(name), name});
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string file = (directory / (names[i] + ".xml")).string();
    instances.images.push_back(
        {int64_t(i) + 1, image_file(options.root, names[i]), annotations[i].image});
    for (const data::VocObject& object : annotations[i].objects) {
      instances.objects.push_back(object_from(object, categories, file));
      instances.objects.back().id = int64_t(instances.objects.size());
      instances.objects.back().image_id = int64_t(i) + 1;
    }
  }
  return instances;
}

}  // namespace sact::detect
