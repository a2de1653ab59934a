// The scale beside a map: which numbers to write where, and drawing it.
#pragma once

#include <vector>

#include "report/canvas.h"
#include "report/ticks.h"
#include "report/value_range.h"

namespace sact::report {

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
