// How large the numbers are that a layer reads, and the scale of whole numbers that suits them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sact {

/// Numbers above 255 scales are cut off at it; smaller ones are rounded.
enum class RangeMethod {
  kMax,         // none is cut off
  kPercentile,  // one in ten thousand is
  kMse,         // what makes the mean of squared errors smallest
};

struct NamedRangeMethod {
  RangeMethod method;
  const char* name;
};
inline constexpr std::array<NamedRangeMethod, 3> kRangeMethods = {
    {{RangeMethod::kMax, "max"},
     {RangeMethod::kPercentile, "percentile"},
     {RangeMethod::kMse, "mse"}}};
std::vector<std::string> range_method_names();
/// sact::Error lists the names when there is no such method.
RangeMethod range_method_from_name(const std::string& name);

/// Counts numbers by their size, in intervals that grow with the largest.
class ActivationRange {
 public:
  /// Numbers of 0 and above; others count as 0. Throws sact::Error where one is not finite.
  void add(std::span<const float> values);

  int64_t count() const { return count_; }
  float largest() const { return largest_; }
  /// What 1 shall stand for. Where all numbers were 0 any would do: 1.
  float scale(RangeMethod method) const;

 private:
  static constexpr size_t kIntervals = 2048;

  void grow(float largest);
  double width() const { return range_ / kIntervals; }
  double percentile() const;
  double squared_error(double end) const;
  double least_squared_error() const;

  std::vector<int64_t> counts_ = std::vector<int64_t>(kIntervals);
  int64_t count_ = 0;  // with those that are 0, which are in no interval
  double range_ = 0;   // of all intervals together
  float largest_ = 0;
};

}  // namespace sact
