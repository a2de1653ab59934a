// The scale beside a map: which numbers to write where, and drawing it.
#pragma once

#include <string>
#include <vector>

#include "report/canvas.h"
#include "report/value_range.h"

namespace sact::report {

/// Multiples of 1, 2 or 5 times a power of ten within low ... high: as many as possible but at most
/// `max_count`. Just `low` when both ends are the same number; may be empty only for `max_count` 1.
std::vector<double> nice_ticks(double low, double high, int max_count);

/// A number written beside the scale; `position` is 0 at the low end and 1 at the high end.
struct Tick {
  double position;
  std::string label;
};

/// The labels of a vertical scale of the given height in pixels (at least two lines of text), from
/// low to high: both ends, and round numbers between them wherever there is room. One label for a
/// constant range, and "n/a" for an empty one.
std::vector<Tick> colorbar_ticks(const ValueRange& range, int height, const Font& font);

/// The room that draw_colorbar takes to the right of its `x`.
int colorbar_width(const ValueRange& range, int height, const Font& font);

/// Draws the scale with its left top corner at (x, y). The labels of the ends reach over the height
/// by half a line.
void draw_colorbar(Canvas& canvas, int x, int y, int height, const ValueRange& range,
                   const Font& font);

}  // namespace sact::report
