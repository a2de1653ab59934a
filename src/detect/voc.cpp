#include "detect/voc.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
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

/// The photograph of that name, whatever its ending; where there is none, the usual one.
fs::path image_path(const fs::path& directory, const std::string& name) {
  for (const char* ending : {".jpg", ".jpeg", ".png", ".JPG", ".JPEG", ".PNG"}) {
    const fs::path path = directory / (name + ending);
    if (is_file(path)) return path;
  }
  return directory / (name + ".jpg");
}

/// By name, from 0.
std::map<std::string, int> category_numbers(const VocOptions& options,
                                            const std::vector<data::VocAnnotation>& annotations,
                                            std::vector<Category>& categories) {
  std::vector<std::string> names = options.categories;
  if (names.empty()) {
    std::set<std::string> found;
    for (const data::VocAnnotation& annotation : annotations) {
      for (const data::VocObject& object : annotation.objects) found.insert(object.name);
    }
    names.assign(found.begin(), found.end());
  }
  if (names.empty()) fail("{}: has no objects", options.root.string());
  std::map<std::string, int> numbers;
  for (const std::string& name : names) {
    if (!numbers.emplace(name, int(numbers.size())).second) {
      fail("the category '{}' is given twice", printable(name));
    }
    categories.push_back({int64_t(categories.size()) + 1, name});
  }
  return numbers;
}

/// From corners that count pixels from 1, the last included, to half-open ones.
Box half_open(const std::array<double, 4>& corners, const std::string& entry) {
  const auto [x0, y0, x1, y1] = corners;
  constexpr double kLargest = 1e7;
  const bool usable =
      x0 <= x1 && y0 <= y1 && x0 > -kLargest && y0 > -kLargest && x1 < kLargest && y1 < kLargest;
  if (!usable) {
    fail(
        "{}: the box {:g},{:g},{:g},{:g} is wrong: xmin must not be above xmax, nor ymin above "
        "ymax",
        entry, x0, y0, x1, y1);
  }
  const auto from_one = [](double at) { return at >= 0 ? std::max(at - 1, 0.0) : at; };
  return {float(from_one(x0)), float(from_one(y0)), float(x1), float(y1)};
}

}  // namespace

DetectionSet open_voc(const VocOptions& options) {
  const fs::path directory = options.root / "Annotations";
  const std::vector<std::string> names =
      options.list.empty() ? names_of_annotations(directory) : names_in_list(list_file(options));
  std::vector<data::VocAnnotation> annotations(names.size());
  run_in_parallel(names.size(), 0, [&](size_t i) {
    annotations[i] = read_annotation(directory / (names[i] + ".xml"));
  });
  DetectionSet set{.name = options.root.string()};
  const auto numbers = category_numbers(options, annotations, set.categories);
  int64_t objects = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string entry = (directory / (names[i] + ".xml")).string();
    set.images.push_back(
        {int64_t(i) + 1, image_path(options.root / "JPEGImages", names[i]), annotations[i].image});
    for (const data::VocObject& object : annotations[i].objects) {
      const auto number = numbers.find(object.name);
      if (number == numbers.end()) {
        fail("{}: has the category '{}', which is not among those given: {}", entry,
             printable(object.name, 60), data::listed(options.categories));
      }
      const Box box = half_open(object.corners, entry);
      add_object(
          set.images.back(), {box, number->second, double(area(box)), object.difficult, ++objects},
          [&entry] { return entry; }, set.repairs);
    }
  }
  keep_images_with_files(set);
  return set;
}

}  // namespace sact::detect
