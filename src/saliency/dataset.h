// Images with fixation maps: the layout of CAT2000, and any two folders.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sact::saliency {

struct Item {
  std::string category;
  std::filesystem::path image, fixations;
};

/// Items category by category, in the order of their names. Without `fixations` the folder `data`
/// is laid out like CAT2000: Stimuli/CATEGORY/NAME.jpg with FIXATIONLOCS/CATEGORY/NAME.mat (or
/// .png); what lies deeper is left out. With it the images in and below `data` have fixation maps
/// NAME.mat or NAME.png at the same place below `fixations`, and the folder of an image is its
/// category. Throws sact::Error where there are no images or one has no fixation map.
std::vector<Item> list_items(const std::filesystem::path& data,
                             const std::filesystem::path& fixations = {});

enum class Part { kFirstHalf, kSecondHalf, kAll };

/// The first half of every category, or what comes after it: a middle one belongs to the second.
std::vector<Item> part_of(const std::vector<Item>& items, Part part);

}  // namespace sact::saliency
