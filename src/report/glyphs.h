// The drawings of the letters: a stroke font of our own, in the spirit of road signs.
#pragma once

#include <span>
#include <string_view>

namespace sact::report {

/// Units: 100 to the text size. Strokes are given by their middle lines; y points up from the
/// baseline; x = 0 is the middle line of the leftmost vertical stroke.
inline constexpr double kUnitsPerSize = 100;
inline constexpr double kCapHeight = 64;
inline constexpr double kSmallHeight = 46;

/// A path is a sequence of
///   M x y                start a stroke
///   L x y                straight on to a point
///   C x1 y1 x2 y2 x y    cubic Bezier curve
///   A cx cy rx ry a b    arc of an ellipse from angle a to b in degrees, joined to the stroke
///   O cx cy rx ry        a whole ellipse, a stroke of its own
///   D x y                a dot, a stroke of its own
struct Glyph {
  char32_t code;
  double left;   // free space before x = 0
  double right;  // free space after the largest x
  std::string_view path;
};

/// All of them, sorted by code.
std::span<const Glyph> all_glyphs();

/// The drawing of a character; unknown ones get that of '?'.
const Glyph& find_glyph(char32_t code);

}  // namespace sact::report
