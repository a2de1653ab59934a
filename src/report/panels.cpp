#include "report/panels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/colorbar.h"

namespace sact::report {
namespace {

constexpr Font kTitleFont{19, true};
constexpr Font kSubtitleFont{14};
constexpr Font kCaptionFont{13};
constexpr int kSubtitleGap = 10;
constexpr int kCaptionGap = 12;    // between a caption and its panel
constexpr int kMinBarHeight = 64;  // room for three numbers
constexpr int kMinPanelSide = 10;

std::string number_text(double value) {
  if (!std::isfinite(value)) return "n/a";
  return fmt::format("{:.{}f}", value, std::abs(value) < 9.995 ? 2 : 1);
}

}  // namespace

PanelSize panel_size(const io::RgbImage& photo, const PanelLimits& limits) {
  const double stretch = std::sqrt(double(photo.width) / photo.height);
  const double scale = std::min({limits.side, limits.width / stretch, limits.height * stretch});
  return {std::max(kMinPanelSide, int(std::lround(scale * stretch))),
          std::max(kMinPanelSide, int(std::lround(scale / stretch)))};
}

PanelSize with_width(const PanelSize& panel, int width) {
  const int used = std::max(kMinPanelSide, width);
  const double height = double(panel.height) * used / panel.width;
  return {used, std::max(kMinPanelSide, int(std::lround(height)))};
}

int bar_height(const PanelSize& panel) {
  return std::max(panel.height, kMinBarHeight);
}

int caption_height() {
  return cap_height(kCaptionFont) + kCaptionGap;
}

int row_height(const PanelSize& panel) {
  return caption_height() + bar_height(panel);
}

int header_height(const std::string& subtitle) {
  return cap_height(kTitleFont) + (subtitle.empty() ? 0 : kSubtitleGap + cap_height(kSubtitleFont));
}

void draw_header(Canvas& canvas, const std::string& title, const std::string& subtitle, int width) {
  const int title_baseline = kMargin + cap_height(kTitleFont) - 1;
  canvas.text(kMargin, title_baseline, title, kTitleFont, kTextColor, Align::kLeft, width);
  canvas.text(kMargin, title_baseline + kSubtitleGap + cap_height(kSubtitleFont), subtitle,
              kSubtitleFont, kFaintTextColor, Align::kLeft, width);
}

void draw_panel(Canvas& canvas, int x, int y, int max_caption_width, const std::string& caption,
                const io::RgbImage& content) {
  canvas.text(x, y + cap_height(kCaptionFont) - 1, caption, kCaptionFont, kTextColor, Align::kLeft,
              max_caption_width);
  const int room = bar_height({content.width, content.height});
  const int top = y + caption_height() + (room - content.height) / 2;
  canvas.blit(content, x, top);
  canvas.frame({x - 1, top - 1, content.width + 2, content.height + 2}, kFrameColor);
}

void draw_map_panel(Canvas& canvas, int x, int y, int max_caption_width, const std::string& caption,
                    const io::RgbImage& content, const ValueRange& range) {
  draw_panel(canvas, x, y, max_caption_width, caption, content);
  // As high as the panel with its frame.
  const int height = bar_height({content.width, content.height}) + 2;
  draw_colorbar(canvas, x + content.width + kBarGap, y + caption_height() - 1, height, range,
                kTickFont);
}

std::string mean_text(const Map& map) {
  const ValueRange range = finite_range(map);
  if (range.empty()) return "no values";
  if (!range.constant()) return "mean " + number_text(finite_mean(map));
  const double value = finite_mean(map);
  const bool whole = std::abs(value - std::round(value)) < 1e-4 && std::abs(value) < 1e6;
  return (whole ? fmt::format("{:.0f}", value) : number_text(value)) + " everywhere";
}

}  // namespace sact::report
