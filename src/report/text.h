// Text in pictures, set by Pango: any script, in the fonts of the machine.
#pragma once

#include <limits>
#include <string_view>

struct _cairo;  // Cairo's cairo_t

namespace sact::report {

struct Font {
  double size = 13;  // in pixels, as in other programs: capitals are about 0.7 of it high
  bool bold = false;

  bool operator==(const Font&) const = default;
};

enum class Align { kLeft, kCenter, kRight };

inline constexpr double kAnyWidth = std::numeric_limits<double>::infinity();

/// The width in pixels of a text (UTF-8) on one line. A text wider than `max_width` is shortened at
/// its end, where an ellipsis stands; no more is measured or drawn then. Control characters and
/// broken UTF-8 become U+FFFD, and what no font has becomes a box with its number.
double text_width(std::string_view text, const Font& font, double max_width = kAnyWidth);

/// The height of capitals and digits from the baseline up, in whole pixels.
int cap_height(const Font& font);

/// The baseline that centres capitals and digits on the given height; see Canvas::text.
int centered_baseline(double center_y, const Font& font);

/// Draws in Cairo's current colour with the lower edge of capitals at `y`.
void draw_text(_cairo* cairo, double x, double y, std::string_view text, const Font& font,
               Align align, double max_width);

}  // namespace sact::report
