// The outlines of the ten classes as signed distance functions, placed in a picture.
#include "data/shapes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace sact::data {
namespace {

constexpr float kPi = std::numbers::pi_v<float>;

float mix(float from, float to, float t) {
  return from + (to - from) * t;
}

float length(float x, float y) {
  return std::sqrt(x * x + y * y);
}

float disc(float x, float y, float radius) {
  return length(x, y) - radius;
}

float rectangle(float x, float y, float half_width, float half_height) {
  const float dx = std::abs(x) - half_width, dy = std::abs(y) - half_height;
  return length(std::max(dx, 0.0f), std::max(dy, 0.0f)) + std::min(std::max(dx, dy), 0.0f);
}

// All wedges of a star are mirror images, so one edge, from a point to the next notch, is enough.
float star(int points, float notch_radius, float x, float y) {
  const float wedge = kPi / float(points);
  const float angle = std::atan2(y, x);
  const float folded = std::abs(angle - 2 * wedge * std::round(angle / (2 * wedge)));
  const float radius = length(x, y);
  const float px = radius * std::cos(folded) - 1, py = radius * std::sin(folded);
  const float ex = notch_radius * std::cos(wedge) - 1, ey = notch_radius * std::sin(wedge);
  const float along = std::clamp((px * ex + py * ey) / (ex * ex + ey * ey), 0.0f, 1.0f);
  const float distance = length(px - along * ex, py - along * ey);
  return ex * py - ey * px > 0 ? -distance : distance;
}

float ring(float thickness, float x, float y) {
  return std::abs(length(x, y) - (0.97f - thickness / 2)) - thickness / 2;
}

float open_ring(float thickness, float half_gap, float x, float y) {
  const float gap = x * std::sin(half_gap) - std::abs(y) * std::cos(half_gap);
  return std::max(ring(thickness, x, y), gap);
}

float crescent(float bite_radius, float x, float y) {
  return std::max(disc(x, y, 0.97f), -disc(x - 0.45f, y, bite_radius));
}

float cross(float half_stroke, float x, float y) {
  return std::min(rectangle(x, y, 0.95f, half_stroke), rectangle(x, y, half_stroke, 0.95f));
}

float tee(float half_stroke, float x, float y) {
  return std::min(rectangle(x, y + 0.5f, 0.68f, half_stroke),
                  rectangle(x, y - 0.22f, half_stroke, 0.72f));
}

float arrow(float half_stroke, float x, float y) {
  constexpr float kTip = 0.97f, kBase = 0.1f, kHalfWidth = 0.72f;
  constexpr float kLength = kTip - kBase;
  const float side =
      ((x - kTip) * kHalfWidth + std::abs(y) * kLength) / length(kLength, kHalfWidth);
  const float head = std::max(side, kBase - x);
  return std::min(head, rectangle(x + 0.37f, y, 0.57f, half_stroke));
}

// A square standing on a corner, with a disc on each of its upper edges.
float heart(float half_side, float x, float y) {
  constexpr float kCentre = 0.12f, kRoot = std::numbers::sqrt2_v<float> / 2;
  const float sx = std::abs(x), sy = y - kCentre;
  const float square = rectangle((sx + sy) * kRoot, (sx - sy) * kRoot, half_side, half_side);
  const float lobe = disc(sx - half_side * kRoot, sy + half_side * kRoot, half_side);
  return std::min(square, lobe);
}

// A disc and the two tangents to it from a point above.
float drop(float radius, float x, float y) {
  constexpr float kTip = -0.97f;
  const float centre = 0.96f - radius;
  const float reach = centre - kTip;
  const float sine = radius / reach, cosine = std::sqrt(1 - sine * sine);
  const float sx = std::abs(x), sy = y - kTip;
  const float along = sx * sine + sy * cosine;
  if (along > reach * cosine) return disc(x, y - centre, radius);
  return along < 0 ? length(sx, sy) : sx * cosine - sy * sine;
}

}  // namespace

const std::array<std::string_view, kSyntheticClasses>& synthetic_class_names() {
  static constexpr std::array<std::string_view, kSyntheticClasses> kNames = {"five-pointed star",
                                                                             "six-pointed star",
                                                                             "ring",
                                                                             "open ring",
                                                                             "crescent",
                                                                             "cross",
                                                                             "tee",
                                                                             "arrow",
                                                                             "heart",
                                                                             "drop"};
  return kNames;
}

float unit_distance(int label, float proportion, float x, float y) {
  switch (label) {
    case 0:
      return star(5, mix(0.38f, 0.52f, proportion), x, y);
    case 1:
      return star(6, mix(0.42f, 0.56f, proportion), x, y);
    case 2:
      return ring(mix(0.24f, 0.42f, proportion), x, y);
    case 3:
      return open_ring(mix(0.24f, 0.42f, proportion), mix(0.65f, 0.4f, proportion), x, y);
    case 4:
      return crescent(mix(0.85f, 0.72f, proportion), x, y);
    case 5:
      return cross(mix(0.17f, 0.27f, proportion), x, y);
    case 6:
      return tee(mix(0.15f, 0.21f, proportion), x, y);
    case 7:
      return arrow(mix(0.15f, 0.25f, proportion), x, y);
    case 8:
      return heart(mix(0.49f, 0.53f, proportion), x, y);
    case 9:
      return drop(mix(0.5f, 0.62f, proportion), x, y);
  }
  SACT_ASSERT(!"a label below kSyntheticClasses");
}

ShapeField::ShapeField(const Shape& shape)
    : shape_(shape),
      cosine_(std::cos(shape.angle) / shape.radius),
      sine_(std::sin(shape.angle) / shape.radius),
      // A stretched distance is too long along one axis and right along the other.
      scale_(shape.radius * (1 + shape.stretch) / 2) {}

float ShapeField::distance(float x, float y) const {
  const float dx = x - shape_.x, dy = y - shape_.y;
  const float u = dx * cosine_ + dy * sine_;
  const float v = (dy * cosine_ - dx * sine_) / shape_.stretch;
  return unit_distance(shape_.label, shape_.proportion, u, v) * scale_;
}

PixelRect pixels_around(float x, float y, float reach, int width, int height) {
  return {std::clamp(int(std::floor(x - reach)), 0, width),
          std::clamp(int(std::floor(y - reach)), 0, height),
          std::clamp(int(std::ceil(x + reach)), 0, width),
          std::clamp(int(std::ceil(y + reach)), 0, height)};
}

Map shape_mask(const Shape& shape, int height, int width) {
  Map mask(height, width);
  const ShapeField field(shape);
  const PixelRect rect = pixels_around(shape.x, shape.y, shape.radius + 1, width, height);
  for (int y = rect.y0; y < rect.y1; ++y) {
    for (int x = rect.x0; x < rect.x1; ++x) {
      mask.at(y, x) = coverage(field.distance(float(x) + 0.5f, float(y) + 0.5f));
    }
  }
  return mask;
}

Box shape_box(const Shape& shape, int height, int width) {
  const ShapeField field(shape);
  const PixelRect rect = pixels_around(shape.x, shape.y, shape.radius + 1, width, height);
  PixelRect seen = {rect.x1, rect.y1, rect.x0, rect.y0};
  for (int y = rect.y0; y < rect.y1; ++y) {
    for (int x = rect.x0; x < rect.x1; ++x) {
      if (coverage(field.distance(float(x) + 0.5f, float(y) + 0.5f)) < 0.25f) continue;
      seen.x0 = std::min(seen.x0, x);
      seen.y0 = std::min(seen.y0, y);
      seen.x1 = std::max(seen.x1, x + 1);
      seen.y1 = std::max(seen.y1, y + 1);
    }
  }
  SACT_ASSERT(seen.x0 < seen.x1 && seen.y0 < seen.y1);
  return {float(seen.x0), float(seen.y0), float(seen.x1), float(seen.y1)};
}

}  // namespace sact::data
