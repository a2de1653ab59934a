// Backgrounds like those of photographs: one surface, or one above another, and the light on it
// all.
#include "data/background.h"

#include <cmath>
#include <numbers>

#include "data/shapes.h"
#include "data/texture.h"

namespace sact::data {
namespace {

Canvas paint_surface(int width, int height, const Texture& texture, Random& random) {
  const Palette palette = random_palette(random);
  const Colour tint = random_colour(random);
  const float tint_strength = float(random.uniform(0, 0.45));
  const double direction = random.uniform(0, 2 * std::numbers::pi);
  const float across = float(std::cos(direction)) / float(width);
  const float down = float(std::sin(direction)) / float(height);
  Canvas canvas(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const float drift = 0.5f + (float(x) - 0.5f * float(width)) * across +
                          (float(y) - 0.5f * float(height)) * down;
      const Colour colour = palette.at(texture.tone.at(y, x)) * texture.shade.at(y, x);
      canvas.at(x, y) = clamped(blend(colour, tint, tint_strength * drift));
    }
  }
  return canvas;
}

void put_below_horizon(Canvas& canvas, const Canvas& ground, Random& random) {
  const int width = canvas.width, height = canvas.height;
  const double side = std::min(width, height);
  const double tilt = random.normal() * 0.06, level = random.uniform(0.3, 0.7) * height;
  const double roughness = side * random.uniform(0, 0.05);
  const float softness = float(random.uniform(1, 0.03 * side + 1));
  // One row of noise is the skyline: hills, hedges, the far edge of a table.
  const Map skyline = fractal_noise(1, width, 0.5 * side, 0.9, 1, random);
  for (int x = 0; x < width; ++x) {
    const double edge = level + tilt * (x - width / 2) + roughness * skyline.at(0, x);
    for (int y = 0; y < height; ++y) {
      const float below = coverage((float(edge) - float(y)) / softness);
      canvas.at(x, y) = blend(canvas.at(x, y), ground.at(x, y), below);
    }
  }
}

}  // namespace

Canvas random_background(int width, int height, Random& random) {
  if (!random.coin(0.33)) {
    return paint_surface(width, height, random_texture(height, width, random), random);
  }
  const bool open_sky = random.coin(0.7);
  const Texture above =
      open_sky ? cloud_texture(height, width, random) : random_texture(height, width, random);
  Canvas canvas = paint_surface(width, height, above, random);
  const Texture below = random_texture(height, width, random);
  put_below_horizon(canvas, paint_surface(width, height, below, random), random);
  return canvas;
}

Light Light::random(Random& random) {
  const double direction = random.uniform(0, 2 * std::numbers::pi);
  const double strength = random.uniform(0, 0.25);
  return {float(strength * std::cos(direction)), float(strength * std::sin(direction)),
          float(random.uniform(0, 0.18))};
}

}  // namespace sact::data
