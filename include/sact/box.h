// Rectangles in pixels, by their corners everywhere.
#pragma once

namespace sact {

/// Half-open: the pixel (x, y) covers [x, x + 1) x [y, y + 1), so that a whole image of width W and
/// height H is {0, 0, W, H}.
struct Box {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  float width() const { return x1 - x0; }
  float height() const { return y1 - y0; }
  friend bool operator==(const Box& a, const Box& b) {
    return a.x0 == b.x0 && a.y0 == b.y0 && a.x1 == b.x1 && a.y1 == b.y1;
  }
};

}  // namespace sact
