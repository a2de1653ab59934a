// Layout and drawing of the ponder picture.
#include "report/ponder_picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "io/resize.h"
#include "report/colorbar.h"
#include "report/overlay.h"
#include "report/panels.h"

namespace sact::report {
namespace {

constexpr int kMinContentWidth = 600;
constexpr int kMinBlockCell = 184;  // the usual caption fits
constexpr int kUsualBlocks = 4;     // a picture is made wide enough for so many in a row
constexpr double kOverlayStrength = 0.55;

struct Layout {
  PanelSize panel;        // of the first row
  PanelSize block_panel;  // of the blocks
  int bar_width;          // everything right of a map that belongs to it
  int columns;            // of blocks
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
  layout.panel = panel_size(picture.photo, {});
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
    layout.block_panel = with_width(layout.panel, width);
  }
  layout.header_height = header_height(picture.subtitle);
  layout.height = kMargin + layout.header_height + kGap + row_height(layout.panel) +
                  layout.block_rows * (kGap + row_height(layout.block_panel)) + kMargin;
  return layout;
}

std::string block_caption(size_t index, const BlockMap& block) {
  return fmt::format("block {} ({}), {}", index + 1, pluralize(block.units, "unit"),
                     mean_text(block.ponder_cost));
}

void draw_map(Canvas& canvas, int x, int y, const PanelSize& size, int max_caption_width,
              const std::string& caption, const Map& map) {
  const ValueRange range = finite_range(map);
  draw_map_panel(canvas, x, y, max_caption_width, caption,
                 map_image(map, size.width, size.height, range, Interpolation::kNearest), range);
}

void draw_first_row(Canvas& canvas, const PonderPicture& picture, const Layout& layout, int y) {
  const PanelSize& panel = layout.panel;
  const io::RgbImage photo = io::resized(picture.photo, {panel.height, panel.width});
  const io::RgbImage covered =
      overlay(photo, picture.total, finite_range(picture.total), kOverlayStrength);
  const int step = (layout.content_width - layout.bar_width + kGap) / 3;
  const int caption_width = step - kGap;
  draw_panel(canvas, kMargin, y, caption_width, "image", photo);
  draw_panel(canvas, kMargin + step, y, caption_width, "ponder cost over the image", covered);
  draw_map(canvas, kMargin + 2 * step, y, panel, caption_width + layout.bar_width,
           "ponder cost ρ, " + mean_text(picture.total), picture.total);
}

void draw_blocks(Canvas& canvas, const PonderPicture& picture, const Layout& layout, int y) {
  const int step = (layout.content_width + kGap) / layout.columns;
  for (size_t i = 0; i < picture.blocks.size(); ++i) {
    const int column = int(i) % layout.columns, row = int(i) / layout.columns;
    draw_map(canvas, kMargin + column * step, y + row * (kGap + row_height(layout.block_panel)),
             layout.block_panel, step - kGap, block_caption(i, picture.blocks[i]),
             picture.blocks[i].ponder_cost);
  }
}

}  // namespace

io::RgbImage draw_ponder_picture(const PonderPicture& picture) {
  SACT_ASSERT(picture.photo.width > 0 && picture.photo.height > 0);
  const Layout layout = make_layout(picture);
  Canvas canvas(layout.content_width + 2 * kMargin, layout.height);
  draw_header(canvas, picture.title, picture.subtitle, layout.content_width);
  const int first_row = kMargin + layout.header_height + kGap;
  draw_first_row(canvas, picture, layout, first_row);
  if (!picture.blocks.empty()) {
    draw_blocks(canvas, picture, layout, first_row + row_height(layout.panel) + kGap);
  }
  return canvas.image();
}

}  // namespace sact::report
