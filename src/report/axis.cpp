// Ranges with room at their ends, and ticks on linear and logarithmic axes.
#include "report/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace sact::report {
namespace {

constexpr double kLargest = 1e200;  // beyond it differences and logarithms stop being harmless
constexpr double kPadding = 0.04;   // of the length of the data's range, at each end
constexpr int kLowestPlainDecade = -4;
constexpr int kHighestPlainDecade = 4;

/// The range around a single value, or around values so close that no scale shows a difference.
ValueRange widened(const ValueRange& range) {
  const double middle = range.low / 2 + range.high / 2;
  const double magnitude = std::max(std::abs(range.low), std::abs(range.high));
  if (range.high - range.low > std::max(1e-9 * magnitude, 1e-200)) return range;
  const double half = magnitude > 1e-150 ? 0.1 * magnitude : 1;
  return {middle - half, middle + half};
}

ValueRange padded(const ValueRange& range) {
  const double room = kPadding * (range.high - range.low);
  const bool all_positive = range.low >= 0, all_negative = range.high <= 0;
  return {all_positive ? std::max(0.0, range.low - room) : range.low - room,
          all_negative ? std::min(0.0, range.high + room) : range.high + room};
}

std::string superscript(int number) {
  constexpr std::string_view kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = number < 0 ? "⁻" : "";
  for (const char digit : fmt::format("{}", std::abs(number))) text += kDigits[digit - '0'];
  return text;
}

/// The value in fixed notation, with a true minus sign and none before zero.
std::string fixed(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  const bool zero = text.find_first_of("123456789") == std::string::npos;
  if (text.starts_with('-')) text.replace(0, 1, zero ? "" : "−");
  return text;
}

/// The fewest decimals with which all values, multiples of a round step, are exact.
int decimals_needed(const std::vector<double>& values) {
  const double spacing = values.size() > 1 ? values[1] - values[0] : std::abs(values[0]);
  for (int decimals = 0; decimals < 15; ++decimals) {
    const double power = std::pow(10.0, decimals);
    const bool exact = std::all_of(values.begin(), values.end(), [&](double value) {
      return std::abs(std::round(value * power) / power - value) <= 1e-6 * spacing;
    });
    if (exact) return decimals;
  }
  return 15;
}

/// Ticks at equal steps of the value; large and small numbers share a power of ten.
AxisTicks linear_ticks(const Axis& axis, int max_count) {
  AxisTicks ticks;
  std::vector<double> values = nice_ticks(axis.low, axis.high, max_count);
  if (values.empty()) values = {axis.low};
  const double magnitude = std::max(std::abs(values.front()), std::abs(values.back()));
  int exponent = 0;
  if (magnitude >= 1e5 || (magnitude < 1e-3 && magnitude > 0)) {
    exponent = int(std::floor((std::log10(magnitude) + 1e-9) / 3)) * 3;
    ticks.factor = "10" + superscript(exponent);
  }
  std::vector<double> numbers;
  for (const double value : values) numbers.push_back(value / std::pow(10.0, exponent));
  const int decimals = decimals_needed(numbers);
  for (size_t i = 0; i < values.size(); ++i) {
    ticks.major.push_back({axis.position(values[i]), fixed(numbers[i], decimals)});
  }
  return ticks;
}

struct Decimal {
  int digit, exponent;
  double value() const { return digit * std::pow(10.0, exponent); }

  std::string label() const {
    if (exponent >= kLowestPlainDecade && exponent <= kHighestPlainDecade) {
      return fixed(value(), std::max(0, -exponent));
    }
    const std::string power = "10" + superscript(exponent);
    return digit == 1 ? power : fmt::format("{}·{}", digit, power);
  }
};

/// All numbers on the axis that are one of `digits` times a power of ten.
std::vector<Decimal> decimals_on(const Axis& axis, const std::vector<int>& digits) {
  std::vector<Decimal> found;
  const int first = int(std::floor(std::log10(axis.low))),
            last = int(std::ceil(std::log10(axis.high)));
  for (int exponent = first; exponent <= last; ++exponent) {
    for (const int digit : digits) {
      const Decimal decimal{digit, exponent};
      const double position = axis.position(decimal.value());
      if (position > -1e-9 && position < 1 + 1e-9) found.push_back(decimal);
    }
  }
  return found;
}

AxisTicks logarithmic_ticks(const Axis& axis, int max_count) {
  std::vector<Decimal> chosen;
  const std::vector<int> from_many_to_few[] = {{1, 2, 5}, {1, 3}, {1}};
  for (const std::vector<int>& digits : from_many_to_few) {
    chosen = decimals_on(axis, digits);
    if (int(chosen.size()) <= max_count) break;
  }
  if (chosen.size() < 2) return linear_ticks(axis, max_count);
  const size_t stride = (chosen.size() + size_t(max_count) - 1) / size_t(max_count);
  AxisTicks ticks;
  for (size_t i = 0; i < chosen.size(); i += stride) {
    ticks.major.push_back({axis.position(chosen[i].value()), chosen[i].label()});
  }
  const std::vector<Decimal> minor = decimals_on(axis, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  if (minor.size() > size_t(9 * max_count)) return ticks;
  for (const Decimal& decimal : minor) ticks.minor.push_back(axis.position(decimal.value()));
  return ticks;
}

}  // namespace

bool Axis::shows(double value) const {
  return std::abs(value) <= kLargest && (!logarithmic || value >= 1 / kLargest);
}

double Axis::position(double value) const {
  if (!logarithmic) return (value - low) / (high - low);
  return (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low));
}

Axis make_axis(const ValueRange& data, const ValueRange& wanted, bool logarithmic) {
  if (!wanted.empty()) {
    const Axis axis{wanted.low, wanted.high, logarithmic};
    SACT_ASSERT(axis.shows(wanted.low) && axis.shows(wanted.high) && wanted.low < wanted.high);
    return axis;
  }
  if (data.empty()) return logarithmic ? Axis{0.1, 10, true} : Axis{0, 1, false};
  if (!logarithmic) {
    const ValueRange range = padded(widened(data));
    return {range.low, range.high, false};
  }
  const bool single = data.high < data.low * (1 + 1e-9);
  const ValueRange range = single ? ValueRange{data.low / 1.3, data.high * 1.3} : data;
  const double room = kPadding * (std::log10(range.high) - std::log10(range.low));
  return {range.low * std::pow(10.0, -room), range.high * std::pow(10.0, room), true};
}

AxisTicks axis_ticks(const Axis& axis, int max_count) {
  SACT_ASSERT(max_count >= 2);
  return axis.logarithmic ? logarithmic_ticks(axis, max_count) : linear_ticks(axis, max_count);
}

}  // namespace sact::report
