// Bounding boxes beside an image folder: finding them and putting them in shares of the image.
#include "data/annotations.h"

#include <algorithm>
#include <system_error>
#include <unordered_set>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/text.h"
#include "data/boxes_csv.h"
#include "data/voc_xml.h"

namespace sact::data {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxXmlBytes = 16 << 20;

/// `path` as seen from `base`, links resolved; empty when it does not lie in it.
std::string relative_inside(const fs::path& path, const fs::path& base) {
  std::error_code error;
  const fs::path relative = fs::relative(path, base, error);
  if (error || relative.empty() || *relative.begin() == "..") return {};
  return relative.string();
}

/// How a table's rows start when they name an image of the folder: "", "train/" ...; nothing when
/// they cannot name one.
std::string row_prefix(const fs::path& table, const AnnotatedFolder& images) {
  const fs::path directory = table.has_parent_path() ? table.parent_path() : ".";
  const bool in_root = !relative_inside(directory, images.root).empty();
  std::string prefix = relative_inside(images.folder, in_root ? directory : images.root);
  if (prefix == ".") return {};
  // A table beside the folder, not above it, names nothing of it; '/' starts no row.
  return prefix.empty() ? "/" : prefix + "/";
}

struct TableResult {
  Annotations found;
  std::string example;  // a file that the table names
};

TableResult match_table(const fs::path& table, const AnnotatedFolder& images) {
  auto rows = read_boxes_csv(table);
  TableResult result;
  result.example = rows.empty() ? "it has none" : printable(rows.begin()->first, 80);
  const std::string prefix = row_prefix(table, images);
  for (size_t i = 0; i < images.files.size(); ++i) {
    const auto row = rows.find(prefix + images.files[i]);
    if (row != rows.end()) result.found.emplace(int64_t(i), std::move(row->second));
  }
  return result;
}

Annotations from_table(const fs::path& table, const AnnotatedFolder& images) {
  TableResult result = match_table(table, images);
  if (result.found.empty()) {
    const std::string prefix = row_prefix(table, images);
    fail("{}: none of its files ({}) is an image of {}; files must be given like '{}{}'",
         table.string(), result.example, images.folder.string(), prefix == "/" ? "" : prefix,
         printable(images.files.front(), 80));
  }
  return std::move(result.found);
}

/// All XML files below the directory, relative to it and without their ending.
std::unordered_set<std::string> list_xml(const fs::path& directory) {
  std::unordered_set<std::string> names;
  std::error_code error;
  fs::recursive_directory_iterator entry(directory, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    fs::path path = entry->path();
    if (path.extension() != ".xml") continue;
    names.insert(path.replace_extension().lexically_relative(directory).string());
  }
  if (error) fail("{}: cannot be listed: {}", directory.string(), error.message());
  return names;
}

/// The XML file (without ending) of an image "class/name.jpg", or nothing.
std::string xml_of(const std::string& file, const std::string& split,
                   const std::unordered_set<std::string>& names) {
  const fs::path image = fs::path(file).replace_extension();
  const fs::path stem = image.filename();
  for (const fs::path& candidate : {split / image, image, split / stem, stem}) {
    if (names.contains(candidate.string())) return candidate.string();
  }
  return {};
}

Annotation read_voc_xml(const fs::path& path) {
  const auto bytes = read_file(path, kMaxXmlBytes);
  return parse_voc_xml({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string());
}

Annotations from_directory(const fs::path& directory, const AnnotatedFolder& images) {
  const auto names = list_xml(directory);
  const std::string split = images.folder == images.root ? "" : images.folder.filename().string();
  Annotations found;
  int64_t damaged = 0;
  std::string first_problem = "no XML file there is named like an image";
  Progress progress("boxes", int64_t(images.files.size()), "images");
  for (size_t i = 0; i < images.files.size(); ++i) {
    progress.advance();
    const std::string name = xml_of(images.files[i], split, names);
    if (name.empty()) continue;
    try {
      Annotation annotation = read_voc_xml(directory / (name + ".xml"));
      if (!annotation.boxes.empty()) found.emplace(int64_t(i), std::move(annotation));
    } catch (const Error& error) {
      if (damaged++ == 0) first_problem = error.what();
    }
  }
  progress.finish();
  if (found.empty()) {
    fail("{}: gives no box for any image of {}: {}", directory.string(), images.folder.string(),
         first_problem);
  }
  if (damaged > 0) {
    log_warning("not used: {} in {}; the first: {}", pluralize(damaged, "annotation"),
                directory.string(), first_problem);
  }
  return found;
}

}  // namespace

std::string box_problem(double x0, double y0, double x1, double y1) {
  // Written so that NaN is refused too.
  if (!(x0 < x1)) return "its left edge must be left of its right edge";
  if (!(y0 < y1)) return "its upper edge must be above its lower edge";
  if (x1 <= 0 || y1 <= 0) return "it lies outside of its image";
  const double largest = std::max({-x0, -y0, x1, y1});
  if (!(largest < 1e7)) return "it is absurdly large";
  return {};
}

Annotations read_annotations(const fs::path& source, const AnnotatedFolder& images) {
  std::error_code error;
  const fs::file_status status = fs::status(source, error);
  if (!fs::exists(status)) {
    fail(
        "{}: there is no such file or directory; boxes come from a CSV table or a directory of "
        "XML files",
        source.string());
  }
  return fs::is_directory(status) ? from_directory(source, images) : from_table(source, images);
}

Annotations read_annotations_if_any(const fs::path& table, const AnnotatedFolder& images) {
  return std::move(match_table(table, images).found);
}

std::vector<NormalizedBox> normalized(const Annotation& annotation, Size decoded,
                                      const std::string& image_name) {
  const Size size = annotation.has_size() ? annotation.image : decoded;
  const auto lies = [](Size s) { return (s.width > s.height) - (s.width < s.height); };
  if (lies(size) * lies(decoded) < 0) return {};
  std::vector<NormalizedBox> boxes;
  const float width = float(size.width), height = float(size.height);
  for (const Box& box : annotation.boxes) {
    if (box.x0 >= width || box.y0 >= height) {
      fail("{}: the box {:g},{:g},{:g},{:g} lies outside of the {}x{} image; mend the annotation",
           image_name, box.x0, box.y0, box.x1, box.y1, size.width, size.height);
    }
    boxes.push_back({std::max(box.x0 / width, 0.0f), std::max(box.y0 / height, 0.0f),
                     std::min(box.x1 / width, 1.0f), std::min(box.y1 / height, 1.0f)});
  }
  return boxes;
}

}  // namespace sact::data
