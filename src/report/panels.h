// Pictures made of panels: a title, and photographs and maps with captions, frames and colour bars.
#pragma once

#include <string>

#include "io/image.h"
#include "report/canvas.h"
#include "report/value_range.h"
#include "sact/types.h"

namespace sact::report {

inline constexpr Font kTickFont{12};
inline constexpr int kMargin = 24;
inline constexpr int kGap = 24;    // between panels, and between rows
inline constexpr int kBarGap = 8;  // between a map and its colour bar

struct PanelSize {
  int width = 0;
  int height = 0;
};

/// `side` is that of a square panel.
struct PanelLimits {
  double side = 290, width = 480, height = 420;
};

/// A panel for the photograph. Panels of all shapes get the same area, unless they would become too
/// long.
PanelSize panel_size(const io::RgbImage& photo, const PanelLimits& limits);
/// The panel of the same shape with the given width.
PanelSize with_width(const PanelSize& panel, int width);

/// A colour bar has room for its numbers also where the panel is low.
int bar_height(const PanelSize& panel);
int caption_height();
/// A panel with its caption.
int row_height(const PanelSize& panel);
int header_height(const std::string& subtitle);

/// The title and the line under it, in the left top corner of a picture.
void draw_header(Canvas& canvas, const std::string& title, const std::string& subtitle, int width);

/// Draws a caption with a picture below it, centred on the height of a colour bar.
void draw_panel(Canvas& canvas, int x, int y, int max_caption_width, const std::string& caption,
                const io::RgbImage& content);

/// The same for a picture of a map, with the scale of its colours.
void draw_map_panel(Canvas& canvas, int x, int y, int max_caption_width, const std::string& caption,
                    const io::RgbImage& content, const ValueRange& range);

/// "mean 14.2", or "23 everywhere" for a network that computes the same everywhere.
std::string mean_text(const Map& map);

}  // namespace sact::report
