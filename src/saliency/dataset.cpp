#include "saliency/dataset.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

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

std::string category_of(const fs::path& relative) {
  const std::string parent = relative.parent_path().string();
  return parent.empty() ? "all" : parent;
}

/// Those in and below `images`; with `categories_only` exactly one folder deep.
std::vector<Stimulus> items_in(const fs::path& images, const fs::path& fixations,
                               bool categories_only) {
  std::vector<Stimulus> items;
  for (const fs::path& image : io::list_images(images)) {
    const fs::path relative = image.lexically_relative(images);
    const auto depth = std::distance(relative.begin(), relative.end());
    if (categories_only && depth != 2) continue;
    items.push_back({category_of(relative), image, find_fixation_map(image, fixations / relative)});
  }
  if (items.empty()) {
    fail("{}: has no {} images; expected {}", images.string(), io::kReadableFormats,
         (images / "CATEGORY" / "NAME.jpg").string());
  }
  check_own_fixation_maps(items);
  std::stable_sort(items.begin(), items.end(),
                   [](const Stimulus& a, const Stimulus& b) { return a.category < b.category; });
  return items;
}

/// Whether each item is of the first half of its category.
std::vector<bool> first_halves(const std::vector<Stimulus>& items) {
  std::vector<bool> first_half;
  for (auto first = items.begin(); first != items.end();) {
    const auto last = std::find_if(
        first, items.end(), [&](const Stimulus& item) { return item.category != first->category; });
    const auto count = size_t(last - first);
    first_half.insert(first_half.end(), count / 2, true);
    first_half.insert(first_half.end(), count - count / 2, false);
    first = last;
  }
  return first_half;
}

}  // namespace

fs::path find_fixation_map(const fs::path& image, const fs::path& place) {
  std::vector<fs::path> found;
  for (const char* extension : {".mat", ".png"}) {
    const fs::path candidate = fs::path(place).replace_extension(extension);
    std::error_code ignored;
    if (candidate != image && fs::is_regular_file(candidate, ignored)) found.push_back(candidate);
  }
  if (found.size() > 1) {
    fail("{}: has two fixation maps, {} and {}; remove one of them", image.string(),
         found[0].string(), found[1].string());
  }
  if (found.empty()) {
    fail("{}: has no fixation map; expected {} or .png", image.string(),
         fs::path(place).replace_extension(".mat").string());
  }
  return found.front();
}

void check_own_fixation_maps(const std::vector<Stimulus>& items) {
  std::map<fs::path, fs::path> image_of;
  for (const Stimulus& item : items) {
    const auto [other, is_new] = image_of.emplace(item.fixations.lexically_normal(), item.image);
    if (!is_new && other->second != item.image) {
      fail("{}: would be the fixation map of two images, {} and {}; each needs one of its own",
           item.fixations.string(), other->second.string(), item.image.string());
    }
  }
}

std::vector<Stimulus> list_stimuli(const fs::path& data, const fs::path& fixations) {
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

Fixations read_fixations(const Stimulus& item, const std::string& variable) {
  constexpr double kTolerance = 0.02;
  Fixations fixations = read_fixations(item.fixations, variable);
  const io::ImageHeader image = io::read_image_header(item.image);
  const double image_aspect = double(image.width) / image.height;
  const double map_aspect = double(fixations.size.width) / fixations.size.height;
  if (std::abs(image_aspect / map_aspect - 1) > kTolerance) {
    fail("{}: has {} x {} pixels, but its fixation map {} has {} x {}; both must have one shape",
         item.image.string(), image.width, image.height, item.fixations.string(),
         fixations.size.width, fixations.size.height);
  }
  return fixations;
}

Split split(const std::vector<Stimulus>& items, Part reported, bool with_search) {
  const std::vector<bool> first_half = first_halves(items);
  Split split;
  for (size_t i = 0; i < items.size(); ++i) {
    const bool search = with_search && first_half[i];
    const bool report =
        reported == Part::kAll || (reported == Part::kFirstHalf) == bool(first_half[i]);
    if (search) split.searched.push_back(split.items.size());
    if (report) split.reported.push_back(split.items.size());
    if (search || report) split.items.push_back(items[i]);
  }
  return split;
}

size_t searched_and_reported(const Split& split) {
  std::vector<size_t> both;
  std::set_intersection(split.searched.begin(), split.searched.end(), split.reported.begin(),
                        split.reported.end(), std::back_inserter(both));
  return both.size();
}

}  // namespace sact::saliency
