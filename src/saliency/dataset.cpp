#include "saliency/dataset.h"

#include <algorithm>

#include "base/error.h"
#include "io/image.h"

namespace sact::saliency {
namespace {

namespace fs = std::filesystem;

void check_is_directory(const fs::path& path, std::string_view hint) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    fail("{}: there is no such folder; {}", path.string(), hint);
  }
}

fs::path fixations_of(const fs::path& image, const fs::path& place) {
  for (const char* extension : {".mat", ".png"}) {
    const fs::path candidate = fs::path(place).replace_extension(extension);
    std::error_code ignored;
    if (candidate != image && fs::is_regular_file(candidate, ignored)) return candidate;
  }
  fail("{}: has no fixation map; expected {} or .png", image.string(),
       fs::path(place).replace_extension(".mat").string());
}

std::string category_of(const fs::path& relative) {
  const std::string parent = relative.parent_path().string();
  return parent.empty() ? "all" : parent;
}

/// Those in and below `images`; with `categories_only` exactly one folder deep.
std::vector<Item> items_in(const fs::path& images, const fs::path& fixations,
                           bool categories_only) {
  std::vector<Item> items;
  for (const fs::path& image : io::list_images(images)) {
    const fs::path relative = image.lexically_relative(images);
    const auto depth = std::distance(relative.begin(), relative.end());
    if (categories_only && depth != 2) continue;
    items.push_back({category_of(relative), image, fixations_of(image, fixations / relative)});
  }
  if (items.empty()) {
    fail("{}: has no JPEG or PNG images; expected {}", images.string(),
         (images / "CATEGORY" / "NAME.jpg").string());
  }
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.category < b.category; });
  return items;
}

}  // namespace

std::vector<Item> list_items(const fs::path& data, const fs::path& fixations) {
  if (fixations.empty()) {
    constexpr std::string_view kHint =
        "expected the layout of CAT2000 (Stimuli and FIXATIONLOCS); for another one give "
        "--fixations FOLDER";
    check_is_directory(data / "Stimuli", kHint);
    check_is_directory(data / "FIXATIONLOCS", kHint);
    return items_in(data / "Stimuli", data / "FIXATIONLOCS", true);
  }
  check_is_directory(data, "a folder of images is needed here");
  check_is_directory(fixations, "a folder of fixation maps is needed here");
  return items_in(data, fixations, false);
}

std::vector<Item> part_of(const std::vector<Item>& items, Part part) {
  std::vector<Item> chosen;
  for (auto first = items.begin(); first != items.end();) {
    const auto last = std::find_if(
        first, items.end(), [&](const Item& item) { return item.category != first->category; });
    const auto middle = first + (last - first) / 2;
    chosen.insert(chosen.end(), part == Part::kSecondHalf ? middle : first,
                  part == Part::kFirstHalf ? middle : last);
    first = last;
  }
  return chosen;
}

}  // namespace sact::saliency
