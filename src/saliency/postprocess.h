// From a ponder cost map to a saliency map, as in the paper's supplement: normalise, blur, add the
// centre map.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/size.h"
#include "model/spec.h"
#include "sact/types.h"

namespace sact::saliency {

/// Throws sact::Error for a network that spends the same everywhere in an image.
void check_halting(const ModelSpec& spec, const std::string& name);

/// The size at which a network sees images where none is given, as in the paper: 180 x 320, and
/// twice as much for a detector.
Size usual_size(const ModelSpec& spec);

/// Shifted and scaled to [0, 1]; zeros where all values are equal.
Map normalized(const Map& map);

/// Convolved with a Gaussian whose standard deviation is `sigma` positions, cut off at four of them
/// and summing to 1. Beyond the border the map is its mirror image, so that its sum stays. Sigma 0
/// gives the map itself.
Map gaussian_blur(const Map& map, double sigma);

/// How wide the centre map is by default, as a share of each side.
inline constexpr double kCenterSigma = 0.25;

/// A Gaussian in the middle with standard deviations of `sigma` times height and width; the density
/// of a centred Gaussian at the middle of each position, 1 at its peak.
Map center_gaussian(Size size, double sigma = kCenterSigma);

/// The settings of the combination; those of the paper by default.
struct PostProcess {
  double blur = 10;              // s, in positions of the map
  double center_weight = 0.005;  // gamma
};

/// The map plus the weighted centre map, which must have its size.
Map with_center(Map blurred, const Map& center, double weight);

/// The same for the blurred normalised ponder cost map.
Map saliency_map(const Map& ponder_cost, const Map& center, const PostProcess& settings);

/// Every blur with every weight, blur by blur.
std::vector<PostProcess> grid(std::span<const double> blurs, std::span<const double> weights);

/// The number of the highest score; of equal ones the first.
size_t best_of(std::span<const double> scores);

/// Where the best value stands among all that were tried, in whatever order. At an end a better one
/// may lie beyond it; below 0, which is as far as a value goes, there is none.
enum class Place { kInside, kLowest, kHighest };
Place place_of(double best, std::span<const double> tried);

/// Softmax over positions of the map divided by `temperature`: how the paper's figure shows maps.
Map softmax(const Map& map, double temperature);

}  // namespace sact::saliency
