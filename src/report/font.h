// Text as strokes: its outline for drawing, its width, and shortening it to a width.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sact::report {

struct Font {
  double size = 13;  // in pixels, as in other programs: capitals are about 0.7 of it high
  bool bold = false;
};

/// A straight piece of a stroke in pixels, from the start of the text on its baseline; y down.
struct Segment {
  double x0, y0, x1, y1;
};

struct TextOutline {
  std::vector<Segment> segments;
  double half_width = 0;  // of the strokes
  double advance = 0;     // where the next text would start
};

/// The strokes of a text (UTF-8). Printable ASCII and ρ τ µ × ± · − … can be drawn; all else,
/// including broken UTF-8, becomes '?'. Heights are rounded to whole pixels, which keeps small
/// text sharp.
TextOutline outline_text(std::string_view text, const Font& font);

/// The width of a text in pixels; additive over its parts.
double text_width(std::string_view text, const Font& font);

/// The height of capitals and digits from the baseline up, in whole pixels.
int cap_height(const Font& font);

/// The text itself when it fits in `max_width` pixels, else its longest beginning that does
/// together with "…"; nothing when not even that fits.
std::string fit_text(std::string_view text, const Font& font, double max_width);

}  // namespace sact::report
