// Patterns of grey like those of surfaces in photographs, at any size of picture.
#include "data/texture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "data/shapes.h"

namespace sact::data {
namespace {

float smooth_step(float low, float high, float value) {
  const float t = std::clamp((value - low) / (high - low), 0.0f, 1.0f);
  return t * t * (3 - 2 * t);
}

float fraction(float value) {
  return value - std::floor(value);
}

// Four neighbours on a lattice and their cubic B-spline weights: smoother than linear
// interpolation, so that the lattice does not show.
struct SplineTap {
  int first;
  std::array<float, 4> weights;
};

SplineTap spline_tap(double place) {
  const double whole = std::floor(place);
  const float t = float(place - whole), s = 1 - t;
  return {int(whole),
          {s * s * s / 6, (4 - 6 * t * t + 3 * t * t * t) / 6, (4 - 6 * s * s + 3 * s * s * s) / 6,
           t * t * t / 6}};
}

std::vector<SplineTap> spline_taps(int size, double wavelength, double phase) {
  std::vector<SplineTap> taps(static_cast<size_t>(size));
  for (int i = 0; i < size; ++i) taps[size_t(i)] = spline_tap(i / wavelength + phase);
  return taps;
}

void add_octave(Map& map, double wavelength_x, double wavelength_y, float amplitude,
                Random& random) {
  const auto columns = spline_taps(map.width, wavelength_x, random.uniform());
  const auto rows = spline_taps(map.height, wavelength_y, random.uniform());
  const size_t across = size_t(columns.back().first) + 4, down = size_t(rows.back().first) + 4;
  std::vector<float> lattice(across * down), line(across);
  for (float& value : lattice) value = amplitude * float(random.uniform(-1, 1));
  for (int y = 0; y < map.height; ++y) {
    const SplineTap& row = rows[size_t(y)];
    const float* from = lattice.data() + size_t(row.first) * across;
    for (size_t i = 0; i < across; ++i) {
      line[i] = row.weights[0] * from[i] + row.weights[1] * from[i + across] +
                row.weights[2] * from[i + 2 * across] + row.weights[3] * from[i + 3 * across];
    }
    for (int x = 0; x < map.width; ++x) {
      const SplineTap& column = columns[size_t(x)];
      const float* four = line.data() + column.first;
      map.at(y, x) += column.weights[0] * four[0] + column.weights[1] * four[1] +
                      column.weights[2] * four[2] + column.weights[3] * four[3];
    }
  }
}

void standardise(Map& map) {
  double sum = 0, squares = 0;
  for (float value : map.values) sum += value, squares += double(value) * value;
  const double count = double(map.values.size()), mean = sum / count;
  const double deviation = std::sqrt(std::max(squares / count - mean * mean, 1e-12));
  for (float& value : map.values) value = float((value - mean) / deviation);
}

double shorter_side(int height, int width) {
  return std::min(height, width);
}

// Fine mottling, which every real surface has.
Map rough_shade(int height, int width, double strength, Random& random) {
  const double wavelength = shorter_side(height, width) * random.uniform(0.05, 0.3);
  Map shade = fractal_noise(height, width, wavelength, random.uniform(0.3, 1.0), 1, random);
  for (float& value : shade.values) value = std::max(0.0f, 1 + float(strength) * value);
  return shade;
}

// Straight coordinates turned by an angle and bent by noise, for patterns that repeat.
struct BentGrid {
  Map bend;
  float cosine, sine, amount;

  BentGrid(int height, int width, double angle, double bending, Random& random)
      : bend(fractal_noise(height, width, 0.7 * shorter_side(height, width), 1.6, 1, random)),
        cosine(float(std::cos(angle))),
        sine(float(std::sin(angle))),
        amount(float(bending * shorter_side(height, width))) {}

  float along(int x, int y) const { return float(x) * cosine + float(y) * sine + shift(x, y); }
  float across(int x, int y) const { return float(y) * cosine - float(x) * sine + shift(x, y); }
  float shift(int x, int y) const { return amount * bend.at(y, x); }
};

double random_period(int height, int width, double low, double high, Random& random) {
  return std::max(3.0, shorter_side(height, width) * random.uniform(low, high));
}

}  // namespace

Map fractal_noise(int height, int width, double wavelength, double slope, double grain,
                  Random& random) {
  Map map(height, width);
  double amplitude = 1;
  for (double length = std::max(wavelength, 2.0); length >= 2; length /= 2) {
    add_octave(map, length * grain, length, float(amplitude), random);
    amplitude *= std::exp2(-slope);
  }
  standardise(map);
  return map;
}

Texture cloud_texture(int height, int width, Random& random) {
  const double wavelength = shorter_side(height, width) * random.uniform(0.25, 1.2);
  const double grain = random.coin(0.4) ? random.uniform(1.5, 6) : 1;
  Texture texture{fractal_noise(height, width, wavelength, random.uniform(0.5, 1.3), grain, random),
                  rough_shade(height, width, random.uniform(0.02, 0.1), random)};
  const bool folded = random.coin(0.3);  // veins, as in marble
  const float spread = float(random.uniform(0.18, 0.3));
  for (float& tone : texture.tone.values) {
    tone = folded ? std::min(1.0f, 0.7f * std::abs(tone)) : 0.5f + spread * tone;
  }
  return texture;
}

Texture stripe_texture(int height, int width, Random& random) {
  const BentGrid grid(height, width, random.uniform(0, std::numbers::pi), random.uniform(0.0, 0.06),
                      random);
  const float period = float(random_period(height, width, 0.06, 0.3, random));
  const float share = float(random.uniform(0.3, 0.7)), edge = float(random.uniform(0.1, 0.3));
  Texture texture{Map(height, width), rough_shade(height, width, 0.07, random)};
  const Map mottle =
      fractal_noise(height, width, 0.3 * shorter_side(height, width), 0.8, 1, random);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const float phase = std::abs(2 * fraction(grid.across(x, y) / period) - 1);
      const float stripe = smooth_step(share - edge, share + edge, phase);
      texture.tone.at(y, x) = 0.15f + 0.7f * stripe + 0.07f * mottle.at(y, x);
    }
  }
  return texture;
}

Texture weave_texture(int height, int width, Random& random) {
  const BentGrid grid(height, width, random.uniform(0, std::numbers::pi), random.uniform(0.0, 0.02),
                      random);
  const float period = float(random_period(height, width, 0.05, 0.16, random));
  const float depth = float(random.uniform(0.2, 0.45));
  const bool two_coloured = random.coin();
  Texture texture{Map(height, width), rough_shade(height, width, 0.08, random)};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const float u = grid.along(x, y) / period, v = grid.across(x, y) / period;
      const bool over = (int(std::floor(u)) + int(std::floor(v))) & 1;
      const float across = 2 * fraction(over ? v : u) - 1, along = 2 * fraction(over ? u : v) - 1;
      texture.tone.at(y, x) = two_coloured && over ? 0.8f : 0.3f;
      texture.shade.at(y, x) *= 1 + depth * (0.5f - across * across - 0.4f * along * along);
    }
  }
  return texture;
}

Texture brick_texture(int height, int width, Random& random) {
  const double tilt = random.coin() ? random.normal() * 0.05 : random.uniform(0, std::numbers::pi);
  const BentGrid grid(height, width, tilt, random.uniform(0.0, 0.015), random);
  const float tall = float(random_period(height, width, 0.09, 0.22, random));
  const float wide = tall * float(random.uniform(1.0, 2.8));
  const float joint = std::max(0.8f, tall * float(random.uniform(0.05, 0.12)));
  const float joint_tone = random.coin() ? 0.0f : 1.0f;
  const uint64_t colours = random.bits();
  Texture texture{Map(height, width), rough_shade(height, width, 0.09, random)};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const float v = grid.across(x, y) / tall, course = std::floor(v);
      const float u = grid.along(x, y) / wide + fraction(course / 2);
      const float gap = std::min((0.5f - std::abs(fraction(v) - 0.5f)) * tall,
                                 (0.5f - std::abs(fraction(u) - 0.5f)) * wide);
      const uint64_t brick = uint64_t(int64_t(course) * 4099 + int64_t(std::floor(u)));
      const float own = float(Random::derived(colours, brick).uniform(0.3, 0.7));
      texture.tone.at(y, x) = joint_tone + (own - joint_tone) * coverage(joint - gap);
    }
  }
  return texture;
}

Texture pebble_texture(int height, int width, Random& random) {
  const float cell = float(std::max(4.0, random_period(height, width, 0.08, 0.26, random)));
  const float roundness = float(random.uniform(0.15, 0.6));
  struct Seed {
    float x, y, tone;
  };
  const int across = int(float(width) / cell) + 3, down = int(float(height) / cell) + 3;
  std::vector<Seed> seeds;
  for (int j = 0; j < down; ++j) {
    for (int i = 0; i < across; ++i) {
      seeds.push_back({float(i - 1 + random.uniform()) * cell,
                       float(j - 1 + random.uniform()) * cell, float(random.uniform(0.1, 0.9))});
    }
  }
  Texture texture{Map(height, width), rough_shade(height, width, 0.08, random)};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int ci = int(float(x) / cell), cj = int(float(y) / cell);
      float nearest = 1e9f, second = 1e9f, tone = 0;
      for (int j = cj; j < cj + 3; ++j) {
        for (int i = ci; i < ci + 3; ++i) {
          const Seed& seed = seeds[size_t(j) * size_t(across) + size_t(i)];
          const float dx = float(x) - seed.x, dy = float(y) - seed.y;
          const float distance = dx * dx + dy * dy;
          if (distance < nearest) tone = seed.tone;
          second = std::min(second, std::max(distance, nearest));
          nearest = std::min(nearest, distance);
        }
      }
      const float edge = (std::sqrt(second) - std::sqrt(nearest)) / cell;
      texture.tone.at(y, x) = tone;
      texture.shade.at(y, x) *= 1 - roundness * (1 - smooth_step(0, 0.45f, edge));
    }
  }
  return texture;
}

Texture blob_texture(int height, int width, Random& random) {
  const double side = shorter_side(height, width);
  Texture texture{fractal_noise(height, width, 0.8 * side, 2.0, 1, random),
                  rough_shade(height, width, 0.02, random)};
  for (float& tone : texture.tone.values) tone = 0.4f + 0.15f * tone;
  const double crowd = double(std::max(height, width)) / side;
  const int blobs = int(random.uniform(6, 22) * std::min(crowd, 8.0));
  const float hardness = float(random.uniform(0.05, 0.8));
  for (int i = 0; i < blobs; ++i) {
    const float radius = float(side * random.uniform(0.05, 0.24));
    const float cx = float(random.uniform(0, width)), cy = float(random.uniform(0, height));
    const float change = float(random.uniform(-0.35, 0.45));
    const PixelRect rect = pixels_around(cx, cy, radius, width, height);
    for (int y = rect.y0; y < rect.y1; ++y) {
      for (int x = rect.x0; x < rect.x1; ++x) {
        const float dx = (float(x) - cx) / radius, dy = (float(y) - cy) / radius;
        const float inside = 1 - smooth_step(hardness, 1, std::sqrt(dx * dx + dy * dy));
        texture.tone.at(y, x) += change * inside;
      }
    }
  }
  return texture;
}

Texture random_texture(int height, int width, Random& random) {
  switch (random.below(8)) {
    case 0:
      return stripe_texture(height, width, random);
    case 1:
      return weave_texture(height, width, random);
    case 2:
      return brick_texture(height, width, random);
    case 3:
      return pebble_texture(height, width, random);
    case 4:
      return blob_texture(height, width, random);
    default:
      return cloud_texture(height, width, random);
  }
}

}  // namespace sact::data
