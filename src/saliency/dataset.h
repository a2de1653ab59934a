// Images with fixation maps: the layout of CAT2000, and any two folders.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "saliency/fixations.h"

namespace sact::saliency {

/// A photograph and where people looked.
struct Stimulus {
  std::string category;
  std::filesystem::path image, fixations;
};

/// The fixation map of an image: the file `place`, whose extension does not matter, with .mat or
/// .png. Throws sact::Error where there is none, or both.
std::filesystem::path find_fixation_map(const std::filesystem::path& image,
                                        const std::filesystem::path& place);

/// Throws sact::Error where two images have the same fixation map.
void check_own_fixation_maps(const std::vector<Stimulus>& items);

/// Stimuli category by category, in the order of their names. Without `fixations` the folder `data`
/// is laid out like CAT2000: Stimuli/CATEGORY/NAME.jpg with FIXATIONLOCS/CATEGORY/NAME.mat (or
/// .png); what lies deeper is left out. With it the images in and below `data` have fixation maps
/// NAME.mat or NAME.png at the same place below `fixations`, and the folder of an image is its
/// category. Throws sact::Error where there are no images, one has no fixation map of its own, or
/// two.
std::vector<Stimulus> list_stimuli(const std::filesystem::path& data,
                                   const std::filesystem::path& fixations = {});

/// Reads the fixation map of an image and, of the image, its size. Throws sact::Error where one has
/// another shape than the other: then the pair is wrong.
Fixations read_fixations(const Stimulus& item, const std::string& variable);

enum class Part { kFirstHalf, kSecondHalf, kAll };

/// The images that are needed, and what for.
struct Split {
  std::vector<Stimulus> items;
  std::vector<size_t> searched, reported;  // numbers of items
};

/// Settings are searched, if at all, on the first half of every category. The second half is what
/// comes after it: a middle one belongs to the second.
Split split(const std::vector<Stimulus>& items, Part reported, bool with_search);

/// How many images are both searched and reported on.
size_t searched_and_reported(const Split& split);

}  // namespace sact::saliency
