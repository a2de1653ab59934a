// Layout and drawing of the ponder picture.
#include "report/ponder_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "io/resize.h"
#include "report/canvas.h"
#include "report/colorbar.h"
#include "report/overlay.h"

namespace sact::report {
namespace {

constexpr Font kTitleFont{19, true};
constexpr Font kSubtitleFont{14};
constexpr Font kCaptionFont{13};
constexpr Font kTickFont{12};

constexpr int kMargin = 24;
constexpr int kGap = 24;           // between panels, and between rows
constexpr int kBarGap = 8;         // between a map and its colour bar
constexpr int kCaptionGap = 12;    // between a caption and its panel
constexpr int kMinBarHeight = 64;  // room for three numbers
constexpr int kMinContentWidth = 600;
constexpr int kMinBlockCell = 184;  // the usual caption fits
constexpr int kUsualBlocks = 4;     // a picture is made wide enough for so many in a row
constexpr double kPanelSide = 290;  // of a square photograph
constexpr double kMaxPanelWidth = 480;
constexpr double kMaxPanelHeight = 420;
constexpr int kMinPanelSide = 10;
constexpr double kOverlayStrength = 0.55;

struct Size {
  int width = 0;
  int height = 0;
};

/// Panels of all shapes get the same area, unless they would become too long.
Size main_panel_size(const io::Image& photo) {
  const double stretch = std::sqrt(double(photo.width) / photo.height);
  const double scale = std::min({kPanelSide, kMaxPanelWidth / stretch, kMaxPanelHeight * stretch});
  return {std::max(kMinPanelSide, int(std::lround(scale * stretch))),
          std::max(kMinPanelSide, int(std::lround(scale / stretch)))};
}

/// The size of the same shape with the given width.
Size with_width(const Size& size, int width) {
  const double height = double(size.height) * width / size.width;
  return {width, std::max(kMinPanelSide, int(std::lround(height)))};
}

int bar_height(const Size& panel) {
  return std::max(panel.height, kMinBarHeight);
}

int caption_height() {
  return cap_height(kCaptionFont) + kCaptionGap;
}

int row_height(const Size& panel) {
  return caption_height() + bar_height(panel);
}

struct Layout {
  Size panel;        // of the first row
  Size block_panel;  // of the blocks
  int bar_width;     // everything right of a map that belongs to it
  int columns;       // of blocks
  int block_rows;
  int content_width;
  int header_height;
  int height;
};

/// Measured at the height of the first row: lower bars have coarser and so no longer numbers.
int widest_bar(const PonderPicture& picture, int height) {
  int width = colorbar_width(finite_range(picture.total), height, kTickFont);
  for (const BlockMap& block : picture.blocks) {
    width = std::max(width, colorbar_width(finite_range(block.ponder_cost), height, kTickFont));
  }
  return kBarGap + width;
}

Layout make_layout(const PonderPicture& picture) {
  Layout layout{};
  layout.panel = main_panel_size(picture.photo);
  layout.bar_width = widest_bar(picture, bar_height(layout.panel) + 2);
  const int count = int(picture.blocks.size());
  const int first_row = 3 * layout.panel.width + 2 * kGap + layout.bar_width;
  const int block_row = std::min(count, kUsualBlocks) * (kMinBlockCell + kGap) - kGap;
  layout.content_width = std::max({first_row, block_row, kMinContentWidth});
  if (count > 0) {
    const int fitting = (layout.content_width + kGap) / (kMinBlockCell + kGap);
    layout.block_rows = (count + fitting - 1) / fitting;
    layout.columns = (count + layout.block_rows - 1) / layout.block_rows;
    const int cell = (layout.content_width + kGap) / layout.columns - kGap;
    const int width = std::min(layout.panel.width, cell - layout.bar_width);
    layout.block_panel = with_width(layout.panel, std::max(kMinPanelSide, width));
  }
  layout.header_height =
      cap_height(kTitleFont) + (picture.subtitle.empty() ? 0 : 10 + cap_height(kSubtitleFont));
  layout.height = kMargin + layout.header_height + kGap + row_height(layout.panel) +
                  layout.block_rows * (kGap + row_height(layout.block_panel)) + kMargin;
  return layout;
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return "n/a";
  return fmt::format("{:.{}f}", value, std::abs(value) < 9.995 ? 2 : 1);
}

/// "mean 14.2", or "23 everywhere" for a network that computes the same everywhere.
std::string mean_text(const Map& map) {
  const ValueRange range = finite_range(map);
  if (range.empty()) return "no values";
  if (!range.constant()) return "mean " + number_text(finite_mean(map));
  const double value = finite_mean(map);
  const bool whole = std::abs(value - std::round(value)) < 1e-4 && std::abs(value) < 1e6;
  return (whole ? fmt::format("{:.0f}", value) : number_text(value)) + " everywhere";
}

std::string block_caption(size_t index, const BlockMap& block) {
  return fmt::format("block {} ({}), {}", index + 1, counted(block.units, "unit"),
                     mean_text(block.ponder_cost));
}

/// Draws a caption with a picture below it, centred on the height of a colour bar.
void draw_panel(Canvas& canvas, int x, int y, int max_caption_width, const std::string& caption,
                const io::Image& content) {
  const Size size{content.width, content.height};
  const std::string text = fit_text(caption, kCaptionFont, max_caption_width);
  canvas.text(x, y + cap_height(kCaptionFont) - 1, text, kCaptionFont, kTextColor);
  const int top = y + caption_height() + (bar_height(size) - size.height) / 2;
  canvas.blit(content, x, top);
  canvas.frame({x - 1, top - 1, size.width + 2, size.height + 2}, kFrameColor);
}

void draw_map_panel(Canvas& canvas, int x, int y, const Size& size, int max_caption_width,
                    const std::string& caption, const Map& map) {
  const ValueRange range = finite_range(map);
  draw_panel(canvas, x, y, max_caption_width, caption,
             map_image(map, size.width, size.height, range, Interpolation::kNearest));
  // As high as the panel with its frame.
  draw_colorbar(canvas, x + size.width + kBarGap, y + caption_height() - 1, bar_height(size) + 2,
                range, kTickFont);
}

void draw_header(Canvas& canvas, const PonderPicture& picture, int width) {
  const int title_baseline = kMargin + cap_height(kTitleFont) - 1;
  canvas.text(kMargin, title_baseline, fit_text(picture.title, kTitleFont, width), kTitleFont,
              kTextColor);
  canvas.text(kMargin, title_baseline + 10 + cap_height(kSubtitleFont),
              fit_text(picture.subtitle, kSubtitleFont, width), kSubtitleFont, kFaintTextColor);
}

void draw_first_row(Canvas& canvas, const PonderPicture& picture, const Layout& layout, int y) {
  const Size& panel = layout.panel;
  const io::Image photo = io::resized(picture.photo, {panel.height, panel.width});
  const io::Image covered =
      overlay(photo, picture.total, finite_range(picture.total), kOverlayStrength);
  const int step = (layout.content_width - layout.bar_width + kGap) / 3;
  const int caption_width = step - kGap;
  draw_panel(canvas, kMargin, y, caption_width, "image", photo);
  draw_panel(canvas, kMargin + step, y, caption_width, "ponder cost over the image", covered);
  draw_map_panel(canvas, kMargin + 2 * step, y, panel, caption_width + layout.bar_width,
                 "ponder cost ρ, " + mean_text(picture.total), picture.total);
}

void draw_blocks(Canvas& canvas, const PonderPicture& picture, const Layout& layout, int y) {
  const int step = (layout.content_width + kGap) / layout.columns;
  for (size_t i = 0; i < picture.blocks.size(); ++i) {
    const int column = int(i) % layout.columns, row = int(i) / layout.columns;
    draw_map_panel(canvas, kMargin + column * step,
                   y + row * (kGap + row_height(layout.block_panel)), layout.block_panel,
                   step - kGap, block_caption(i, picture.blocks[i]), picture.blocks[i].ponder_cost);
  }
}

}  // namespace

io::Image draw_ponder_picture(const PonderPicture& picture) {
  SACT_ASSERT(picture.photo.width > 0 && picture.photo.height > 0);
  const Layout layout = make_layout(picture);
  Canvas canvas(layout.content_width + 2 * kMargin, layout.height);
  draw_header(canvas, picture, layout.content_width);
  const int first_row = kMargin + layout.header_height + kGap;
  draw_first_row(canvas, picture, layout, first_row);
  if (!picture.blocks.empty()) {
    draw_blocks(canvas, picture, layout, first_row + row_height(layout.panel) + kGap);
  }
  return std::move(canvas).take();
}

}  // namespace sact::report
