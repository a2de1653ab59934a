// Colours as three numbers from 0 to 1, and a picture of them to paint on.
#pragma once

#include <cstddef>
#include <vector>

#include "base/random.h"

namespace sact::data {

struct Colour {
  float r = 0, g = 0, b = 0;
};

inline Colour operator+(Colour a, Colour b) {
  return {a.r + b.r, a.g + b.g, a.b + b.b};
}
inline Colour operator-(Colour a, Colour b) {
  return {a.r - b.r, a.g - b.g, a.b - b.b};
}
inline Colour operator*(Colour a, float factor) {
  return {a.r * factor, a.g * factor, a.b * factor};
}
inline Colour blend(Colour from, Colour to, float t) {
  return from + (to - from) * t;
}

Colour clamped(Colour colour);
float colour_distance(Colour a, Colour b);

/// Any hue; greyish more often than vivid, as surfaces are.
Colour random_colour(Random& random);

/// The colour with its channels moved a little, together and apart.
Colour varied(Colour colour, float amount, Random& random);

/// Colours that occur together on one surface; `at(t)` runs through them for t from 0 to 1.
struct Palette {
  Colour low, middle, high;
  Colour at(float t) const;
};

Palette random_palette(Random& random);

struct Canvas {
  int width = 0;
  int height = 0;
  std::vector<Colour> pixels;

  Canvas(int w, int h) : width(w), height(h), pixels(size_t(w) * size_t(h)) {}
  Colour& at(int x, int y) { return pixels[size_t(y) * size_t(width) + size_t(x)]; }
  Colour at(int x, int y) const { return pixels[size_t(y) * size_t(width) + size_t(x)]; }
};

}  // namespace sact::data
