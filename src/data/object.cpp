// Painting objects, their shadows and the fragments that lie about.
#include "data/object.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "data/texture.h"

namespace sact::data {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

struct Fragment {
  int kind = 0;  // bar, blob or arc
  float x = 0, y = 0, radius = 1;
  float angle = 0;
  float proportion = 0.5f;

  float distance(float px, float py) const;
};

float Fragment::distance(float px, float py) const {
  const float c = std::cos(angle), s = std::sin(angle);
  const float u = ((px - x) * c + (py - y) * s) / radius;
  const float v = ((py - y) * c - (px - x) * s) / radius;
  if (kind == 0) {
    return radius * std::max(std::abs(u) - 1, std::abs(v) - 0.12f - 0.2f * proportion);
  }
  if (kind == 1) {
    const float wobble = 0.06f * std::cos(5 * std::atan2(v, u) + 6 * proportion);
    const float flatness = 1.2f + proportion;
    return radius * 0.7f * (std::sqrt(u * u + flatness * flatness * v * v) - 0.9f - wobble);
  }
  // A short piece of a ring with square ends, so that it is no crescent.
  const float bow =
      std::abs(std::sqrt((u + 1) * (u + 1) + v * v) - 1.2f) - 0.09f - 0.1f * proportion;
  const float ends = std::abs(v) * 0.8f - (u + 1) * 0.6f;
  return radius * std::max(bow, ends);
}

bool clear_of(const Fragment& fragment, const std::vector<Shape>& shapes) {
  return std::none_of(shapes.begin(), shapes.end(), [&](const Shape& shape) {
    const float reach = shape.radius + 1.1f * fragment.radius;
    const float dx = fragment.x - shape.x, dy = fragment.y - shape.y;
    return dx * dx + dy * dy < reach * reach;
  });
}

void paint_fragment(Canvas& canvas, const Fragment& fragment, const Palette& palette) {
  const PixelRect rect = pixels_around(fragment.x, fragment.y, 1.2f * fragment.radius + 1,
                                       canvas.width, canvas.height);
  for (int y = rect.y0; y < rect.y1; ++y) {
    for (int x = rect.x0; x < rect.x1; ++x) {
      const float px = float(x) + 0.5f, py = float(y) + 0.5f;
      const float cover = coverage(fragment.distance(px, py));
      if (cover == 0) continue;
      const Colour colour = palette.at(0.5f + 0.4f * (px - fragment.x) / fragment.radius);
      canvas.at(x, y) = blend(canvas.at(x, y), colour, cover);
    }
  }
}

void paint_shadow(Canvas& canvas, const Shape& shape, Random& random) {
  const double direction = random.uniform(0, kTurn), offset = random.uniform(0.08, 0.3);
  Shape thrown = shape;
  thrown.x += float(shape.radius * offset * std::cos(direction));
  thrown.y += float(shape.radius * offset * std::sin(direction));
  const float softness = std::max(1.0f, shape.radius * float(random.uniform(0.1, 0.35)));
  const float strength = float(random.uniform(0.2, 0.55));
  const ShapeField field(thrown);
  const PixelRect rect =
      pixels_around(thrown.x, thrown.y, shape.radius + softness, canvas.width, canvas.height);
  for (int y = rect.y0; y < rect.y1; ++y) {
    for (int x = rect.x0; x < rect.x1; ++x) {
      const float dark = coverage(field.distance(float(x) + 0.5f, float(y) + 0.5f) / softness);
      canvas.at(x, y) = canvas.at(x, y) * (1 - strength * dark);
    }
  }
}

struct Surroundings {
  Colour mean;
  float deviation = 0;
};

Surroundings surroundings_of(const Canvas& canvas, const Shape& shape) {
  const float reach = 1.3f * shape.radius;
  const PixelRect rect = pixels_around(shape.x, shape.y, reach, canvas.width, canvas.height);
  Colour sum;
  float squares = 0, count = 0;
  for (int y = rect.y0; y < rect.y1; ++y) {
    for (int x = rect.x0; x < rect.x1; ++x) {
      const Colour c = canvas.at(x, y);
      sum = sum + c;
      squares += c.r * c.r + c.g * c.g + c.b * c.b;
      count += 1;
    }
  }
  const Colour mean = sum * (1 / count);
  const float of_mean = mean.r * mean.r + mean.g * mean.g + mean.b * mean.b;
  return {mean, std::sqrt(std::max(0.0f, squares / count - of_mean))};
}

Colour contrasting_colour(const Surroundings& around, float min_contrast,
                          const std::vector<Colour>& familiar, Random& random) {
  // A corner of the colour cube is never nearer than 0.86, so that 0.8 can always be had.
  const float wanted = std::min(0.8f, min_contrast + around.deviation);
  if (!familiar.empty() && random.coin(0.4)) {
    const Colour colour = familiar[size_t(random.below(int64_t(familiar.size())))];
    if (colour_distance(colour, around.mean) >= wanted) return colour;
  }
  for (int attempt = 0; attempt < 40; ++attempt) {
    const Colour colour = random_colour(random);
    if (colour_distance(colour, around.mean) >= wanted) return colour;
  }
  const Colour m = around.mean;
  return {m.r < 0.5f ? 1.0f : 0.0f, m.g < 0.5f ? 1.0f : 0.0f, m.b < 0.5f ? 1.0f : 0.0f};
}

// What an object's face adds to its colour: a pattern of its own, a slope of light across it and a
// rim that is lighter or darker than the middle. All of it averages about zero.
struct Face {
  Map pattern;
  PixelRect rect;
  float pattern_strength, slope_x, slope_y, rim, rim_width;

  Face(const Shape& shape, const PixelRect& area, Random& random)
      : pattern(area.y1 - area.y0, area.x1 - area.x0), rect(area) {
    const double wavelength = shape.radius * random.uniform(0.2, 1.2);
    pattern = fractal_noise(pattern.height, pattern.width, wavelength, random.uniform(0.3, 1.2),
                            random.coin() ? 1 : random.uniform(1, 5), random);
    pattern_strength = float(random.uniform(0.01, 0.07));
    const double direction = random.uniform(0, kTurn), slope = random.uniform(0, 0.14);
    slope_x = float(slope * std::cos(direction)) / shape.radius;
    slope_y = float(slope * std::sin(direction)) / shape.radius;
    rim = random.coin() ? float(random.uniform(-0.16, 0.16)) : 0.0f;
    rim_width = std::max(1.5f, 0.12f * shape.radius);
  }

  float at(int x, int y, float from_x, float from_y, float distance) const {
    const float rim_share = std::clamp(1 + distance / rim_width, 0.0f, 1.0f) - 0.5f;
    return pattern_strength * pattern.at(y - rect.y0, x - rect.x0) + slope_x * from_x +
           slope_y * from_y + rim * rim_share;
  }
};

}  // namespace

std::vector<Colour> paint_fragments(Canvas& canvas, int count, const std::vector<Shape>& shapes,
                                    Random& random) {
  std::vector<Colour> colours;
  const double side = std::min(canvas.width, canvas.height);
  for (int i = 0; i < count; ++i) {
    for (int attempt = 0; attempt < 8; ++attempt) {
      const Fragment fragment = {int(random.below(3)),
                                 float(random.uniform(0, canvas.width)),
                                 float(random.uniform(0, canvas.height)),
                                 float(side * random.uniform(0.05, 0.2)),
                                 float(random.uniform(0, kTurn)),
                                 float(random.uniform())};
      if (!clear_of(fragment, shapes)) continue;
      const Colour colour = random_colour(random);
      const float change = float(random.uniform(-0.2, 0.2));
      paint_fragment(canvas, fragment, {colour, colour, clamped(colour * (1 + change))});
      colours.push_back(colour);
      break;
    }
  }
  return colours;
}

void paint_object(Canvas& canvas, const Shape& shape, float min_contrast,
                  const std::vector<Colour>& familiar, Random& random) {
  if (random.coin(0.4)) paint_shadow(canvas, shape, random);
  const Surroundings around = surroundings_of(canvas, shape);
  const Colour base = contrasting_colour(around, min_contrast, familiar, random);
  const PixelRect rect =
      pixels_around(shape.x, shape.y, shape.radius + 1, canvas.width, canvas.height);
  const Face face(shape, rect, random);
  const ShapeField field(shape);
  for (int y = rect.y0; y < rect.y1; ++y) {
    for (int x = rect.x0; x < rect.x1; ++x) {
      const float px = float(x) + 0.5f, py = float(y) + 0.5f;
      const float distance = field.distance(px, py);
      const float cover = coverage(distance);
      if (cover == 0) continue;
      const float change = face.at(x, y, px - shape.x, py - shape.y, distance);
      const Colour colour = clamped(base + Colour{change, change, change});
      canvas.at(x, y) = blend(canvas.at(x, y), colour, cover);
    }
  }
}

}  // namespace sact::data
