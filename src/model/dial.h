// The dial of an adaptive network: what halting shifts come to, as `sact calibrate` measured it. It
// is stored beside the spec in the model file, under the metadata key "sact.dial".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/eval_result.h"

namespace sact {

inline constexpr std::string_view kDialKey = "sact.dial";
/// A shift of this much leaves no score that is not 0 or 1.
inline constexpr double kMostHaltingShift = 100000;

struct DialPoint {
  double shift = 0;
  MeanStd flops_share;        // of the dense network's FLOPs, over images
  std::vector<double> units;  // of each block, mean over positions and images
  double agreement = 0;       // share of images with the class of the same weights unhalted
  std::optional<double> dense_agreement;  // with that of another network
  std::optional<double> accuracy;         // where there were labels
};

struct Dial {
  Size size;  // of the images
  int64_t images = 0;
  std::vector<DialPoint> points;  // by rising shift; the share of FLOPs never rises

  double least_share() const { return points.back().flops_share.mean; }
  double largest_share() const { return points.front().flops_share.mean; }
  /// The budgets that it has, such as "0.325 to 1.009": rounded inwards, so that both ends are met.
  std::string range() const;
  /// The shift for a share of the dense network's FLOPs between these, between points linearly.
  double shift_for(double share) const;
};

/// Makes the shares of points, which are in the order of their shifts, never rise, by means of
/// those that did (isotonic regression). Whether any did.
bool make_monotone(std::vector<DialPoint>& points);

io::Json to_json(const DialPoint& point);
io::Json to_json(const Dial& dial);
/// Throws sact::Error, naming the key, for what to_json() would not have given; `name` says where
/// it came from.
Dial dial_from_json(std::string_view text, const std::string& name);

}  // namespace sact
