// The labels of the colour bar, and drawing it.
#include "report/colorbar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "report/colormap.h"

namespace sact::report {
namespace {

constexpr int kBarWidth = 12;
constexpr int kTickLength = 4;
constexpr int kLabelGap = 3;

int decimal_exponent(double value) {
  return int(std::floor(std::log10(value) + 1e-9));
}

/// How the numbers of one scale are written: all with the same number of decimals.
struct NumberFormat {
  bool scientific = false;
  int decimals = 0;

  std::string operator()(double value) const {
    std::string text = fmt::format("{:.{}f}", value, decimals);
    if (scientific && value != 0) {
      const std::string full = fmt::format("{:.{}e}", value, decimals);
      const size_t at = full.find('e');
      text = fmt::format("{}e{}", full.substr(0, at), std::stoi(full.substr(at + 1)));
    } else if (scientific) {
      text = "0";
    }
    if (text.starts_with('-') && text.find_first_of("123456789") == std::string::npos) {
      text.erase(0, 1);
    }
    for (size_t at; (at = text.find('-')) != std::string::npos;) text.replace(at, 1, "−");
    return text;
  }
};

/// The format in which numbers that differ by 10^exponent look different.
NumberFormat number_format(const ValueRange& range, int exponent) {
  const double magnitude = std::max(std::abs(range.low), std::abs(range.high));
  if (magnitude >= 1e5 || (magnitude < 1e-3 && magnitude > 0)) {
    return {true, std::max(0, decimal_exponent(magnitude) - exponent)};
  }
  return {false, std::max(0, -exponent)};
}

/// A single number with four significant digits, without zeros at its end.
std::string single_label(double value) {
  const int exponent = value == 0 ? 0 : decimal_exponent(std::abs(value));
  std::string text = number_format({value, value}, exponent - 3)(value);
  const size_t mantissa_end = std::min(text.find('e'), text.size());
  if (text.find('.') >= mantissa_end) return text;
  size_t last = text.find_last_not_of('0', mantissa_end - 1);
  if (text[last] == '.') --last;
  return text.erase(last + 1, mantissa_end - last - 1);
}

}  // namespace

std::vector<Tick> colorbar_ticks(const ValueRange& range, int height, const Font& font) {
  SACT_ASSERT(height >= 2 * font.size);
  if (range.empty()) return {{0.5, "n/a"}};
  if (range.constant()) return {{0.5, single_label(range.low)}};
  const double room = 1.3 * font.size / height;  // from label to label, as a share of the height
  // At most n ticks are more than 1 / (n + 1) of the height apart.
  const int max_count = std::clamp(int(std::min(0.6 / room + 1, 1 / room - 1)), 1, 9);
  const Step step = nice_step(range.low, range.high, max_count);
  const NumberFormat format = number_format(range, step.exponent);
  const NumberFormat fine_format = number_format(range, step.exponent - 1);
  // One more decimal, but only where it would not be zero: labels must not grow as steps do.
  const auto end_label = [&](double value) {
    const Step unit{1, step.exponent};
    const double rounded = unit.times(std::round(value / unit.times(1)));
    const bool is_round = std::abs(value - rounded) < 1e-6 * (range.high - range.low);
    return is_round ? format(value) : fine_format(value);
  };

  std::vector<Tick> ticks{{0, end_label(range.low)}};
  for (const double value : nice_ticks(range.low, range.high, max_count)) {
    const double position = range.position(value);
    if (position > room && position < 1 - room) ticks.push_back({position, format(value)});
  }
  ticks.push_back({1, end_label(range.high)});
  return ticks;
}

int colorbar_width(const ValueRange& range, int height, const Font& font) {
  double label_width = 0;
  for (const Tick& tick : colorbar_ticks(range, height, font)) {
    label_width = std::max(label_width, text_width(tick.label, font));
  }
  return kBarWidth + kTickLength + kLabelGap + int(std::ceil(label_width));
}

void draw_colorbar(Canvas& canvas, int x, int y, int height, const ValueRange& range,
                   const Font& font) {
  io::RgbImage bar(kBarWidth, height);
  for (int row = 0; row < height; ++row) {
    const double t = range.constant() ? 0.5 : 1 - row / double(height - 1);
    const Rgb color = range.empty() ? kMissingColor : sequential_color(t);
    for (int column = 0; column < kBarWidth; ++column) {
      uint8_t* pixel = bar.pixel(column, row);
      pixel[0] = color.r, pixel[1] = color.g, pixel[2] = color.b;
    }
  }
  canvas.blit(bar, x, y);
  canvas.frame({x, y, kBarWidth, height}, kFrameColor);
  for (const Tick& tick : colorbar_ticks(range, height, font)) {
    const int row = y + int(std::lround((1 - tick.position) * (height - 1)));
    canvas.fill_rectangle({x + kBarWidth, row, kTickLength, 1}, kFrameColor);
    canvas.text(x + kBarWidth + kTickLength + kLabelGap, centered_baseline(row + 0.5, font),
                tick.label, font, kTextColor);
  }
}

}  // namespace sact::report
