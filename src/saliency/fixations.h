// Where people looked in an image.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/size.h"
#include "sact/types.h"

namespace sact::saliency {

/// The pixels of a fixation map that somebody looked at. A pixel counts once, however often it was
/// looked at: that is all that a fixation map tells.
struct Fixations {
  Size size;                     // of the map
  std::vector<uint32_t> pixels;  // y * width + x, ascending
};

/// Those of a map: every pixel that is not 0. `name` is used in messages: a map in which nothing or
/// everything is fixated is a sact::Error.
Fixations fixations_of(const Map& map, const std::string& name);

/// Reads a fixation map: `variable` of a MATLAB file, or a PNG in which every pixel that is not
/// black is fixated. Throws sact::Error for pictures that do not keep such pixels apart: JPEG, 16
/// bits a colour, transparency.
Fixations read_fixations(const std::filesystem::path& path, const std::string& variable);

/// Several fixation maps in one of the given size.
Fixations joined(std::span<const Fixations* const> maps, Size size);

/// One degree of the visual field in the recordings of CAT2000, as a share of the map's width.
inline constexpr double kOneDegree = 35.0 / 1920;

/// How densely people looked: the fixations under a Gaussian of `sigma` pixels.
Map density(const Fixations& fixations, double sigma);

}  // namespace sact::saliency
