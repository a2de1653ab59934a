// Drawing primitives. Curves and text are drawn by the distance of each pixel to the strokes.
#include "report/canvas.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/error.h"
#include "io/resize.h"

namespace sact::report {
namespace {

/// Rounds to a pixel index within `low` ... `high`, also for coordinates no int can hold.
int pixel_index(double value, int low, int high) {
  return int(std::clamp(std::floor(value), double(low), double(high)));
}

/// The part of a box that lies on an image of the given size. May be empty.
Box clipped(const Box& box, int width, int height) {
  const int64_t left = std::max(box.x, 0);
  const int64_t top = std::max(box.y, 0);
  const int64_t right = std::min<int64_t>(int64_t(box.x) + box.width, width);
  const int64_t bottom = std::min<int64_t>(int64_t(box.y) + box.height, height);
  if (right <= left || bottom <= top) return {};
  return {int(left), int(top), int(right - left), int(bottom - top)};
}

/// The squared distance of points to a segment.
class Nearness {
 public:
  explicit Nearness(const Segment& s) : s_(s), dx_(s.x1 - s.x0), dy_(s.y1 - s.y0) {
    const double length_squared = dx_ * dx_ + dy_ * dy_;
    if (length_squared > 0) inverse_ = 1 / length_squared;
  }

  double squared_to(double x, double y) const {
    const double from_x = x - s_.x0, from_y = y - s_.y0;
    const double t = std::clamp((from_x * dx_ + from_y * dy_) * inverse_, 0.0, 1.0);
    const double off_x = from_x - t * dx_, off_y = from_y - t * dy_;
    return off_x * off_x + off_y * off_y;
  }

 private:
  Segment s_;
  double dx_, dy_;
  double inverse_ = 0;  // of the squared length
};

Segment moved(const Segment& s, double dx, double dy) {
  return {s.x0 + dx, s.y0 + dy, s.x1 + dx, s.y1 + dy};
}

/// How much of each pixel of a part of the image the strokes cover.
class Coverage {
 public:
  /// Covers the pixels of a width x height image that `segments` can touch.
  Coverage(std::span<const Segment> segments, double half_width, int width, int height)
      : reach_(half_width + 0.5), box_(bounds(segments, reach_, width, height)) {
    values_.resize(size_t(box_.width) * size_t(box_.height));
    for (const Segment& segment : segments) add(segment);
  }

  const Box& box() const { return box_; }
  float at(int x, int y) const { return values_[index(x, y)]; }

 private:
  static Box bounds(std::span<const Segment> segments, double reach, int width, int height) {
    double left = width, right = 0, top = height, bottom = 0;
    for (const Segment& s : segments) {
      left = std::min({left, s.x0, s.x1});
      right = std::max({right, s.x0, s.x1});
      top = std::min({top, s.y0, s.y1});
      bottom = std::max({bottom, s.y0, s.y1});
    }
    const int x0 = pixel_index(left - reach, 0, width);
    const int y0 = pixel_index(top - reach, 0, height);
    const int x1 = pixel_index(right + reach + 1, x0, width);
    const int y1 = pixel_index(bottom + reach + 1, y0, height);
    return {x0, y0, x1 - x0, y1 - y0};
  }

  void add(const Segment& s) {
    const int x_end = box_.x + box_.width, y_end = box_.y + box_.height;
    const int x0 = pixel_index(std::min(s.x0, s.x1) - reach_, box_.x, x_end);
    const int x1 = pixel_index(std::max(s.x0, s.x1) + reach_ + 1, box_.x, x_end);
    const int y0 = pixel_index(std::min(s.y0, s.y1) - reach_, box_.y, y_end);
    const int y1 = pixel_index(std::max(s.y0, s.y1) + reach_ + 1, box_.y, y_end);
    const Nearness nearness(s);
    for (int y = y0; y < y1; ++y) {
      float* value = &values_[index(x0, y)];
      for (int x = x0; x < x1; ++x, ++value) {
        const double squared = nearness.squared_to(x + 0.5, y + 0.5);
        if (squared >= reach_ * reach_) continue;
        *value = std::max(*value, float(std::min(reach_ - std::sqrt(squared), 1.0)));
      }
    }
  }

  size_t index(int x, int y) const {
    return size_t(y - box_.y) * size_t(box_.width) + size_t(x - box_.x);
  }

  double reach_;
  Box box_;
  std::vector<float> values_;
};

}  // namespace

Canvas::Canvas(int width, int height, Rgb background) {
  SACT_ASSERT(width > 0 && height > 0);
  image_ = io::Image(width, height);
  fill(background);
}

Canvas::Canvas(io::Image image) : image_(std::move(image)) {
  SACT_ASSERT(image_.width > 0 && image_.height > 0);
  SACT_ASSERT(image_.rgb.size() == size_t(image_.width) * size_t(image_.height) * 3);
}

void Canvas::fill(Rgb color) {
  fill_rectangle({0, 0, width(), height()}, color);
}

void Canvas::fill_rectangle(const Box& box, Rgb color, double alpha) {
  const Box part = clipped(box, width(), height());
  if (part.width == 0) return;
  if (alpha >= 1) {
    const uint8_t* first = image_.pixel(part.x, part.y);
    for (int x = part.x; x < part.x + part.width; ++x) blend(x, part.y, color, 1);
    for (int y = part.y + 1; y < part.y + part.height; ++y) {
      std::copy_n(first, size_t(part.width) * 3, image_.pixel(part.x, y));
    }
    return;
  }
  for (int y = part.y; y < part.y + part.height; ++y) {
    for (int x = part.x; x < part.x + part.width; ++x) blend(x, y, color, alpha);
  }
}

void Canvas::frame(const Box& box, Rgb color) {
  if (box.width <= 0 || box.height <= 0) return;
  const int64_t right = int64_t(box.x) + box.width - 1;
  const int64_t bottom = int64_t(box.y) + box.height - 1;
  fill_rectangle({box.x, box.y, box.width, 1}, color);
  fill_rectangle({box.x, box.y, 1, box.height}, color);
  if (bottom < height()) fill_rectangle({box.x, int(bottom), box.width, 1}, color);
  if (right < width()) fill_rectangle({int(right), box.y, 1, box.height}, color);
}

void Canvas::line(double x0, double y0, double x1, double y1, double thickness, Rgb color) {
  SACT_ASSERT(std::isfinite(x0) && std::isfinite(y0) && std::isfinite(x1) && std::isfinite(y1));
  const Segment segment{x0, y0, x1, y1};
  stroke({&segment, 1}, thickness / 2, color);
}

void Canvas::stroke(std::span<const Segment> segments, double half_width, Rgb color) {
  const Coverage coverage(segments, half_width, width(), height());
  const Box& box = coverage.box();
  for (int y = box.y; y < box.y + box.height; ++y) {
    for (int x = box.x; x < box.x + box.width; ++x) {
      const float alpha = coverage.at(x, y);
      if (alpha > 0) blend(x, y, color, alpha);
    }
  }
}

void Canvas::blit(const io::Image& picture, int x, int y) {
  const Box part = clipped({x, y, picture.width, picture.height}, width(), height());
  if (part.width == 0) return;
  for (int row = part.y; row < part.y + part.height; ++row) {
    std::copy_n(picture.pixel(part.x - x, row - y), size_t(part.width) * 3,
                image_.pixel(part.x, row));
  }
}

void Canvas::blit_scaled(const io::Image& picture, const Box& box) {
  blit(io::resized(picture, {box.height, box.width}), box.x, box.y);
}

void Canvas::text(double x, int baseline, std::string_view text, const Font& font, Rgb color,
                  Align align) {
  SACT_ASSERT(std::isfinite(x));
  TextOutline outline = outline_text(text, font);
  const double before = align == Align::kLeft     ? 0
                        : align == Align::kCenter ? outline.advance / 2
                                                  : outline.advance;
  // Strokes sit on the baseline row: their lower edge is that of the row, whatever their thickness.
  const double y = baseline + 1.0 - outline.half_width;
  for (Segment& segment : outline.segments) segment = moved(segment, x - before, y);
  stroke(outline.segments, outline.half_width, color);
}

void Canvas::blend(int x, int y, Rgb color, double alpha) {
  uint8_t* pixel = image_.pixel(x, y);
  const Rgb mixed = mix({pixel[0], pixel[1], pixel[2]}, color, std::clamp(alpha, 0.0, 1.0));
  pixel[0] = mixed.r;
  pixel[1] = mixed.g;
  pixel[2] = mixed.b;
}

int centered_baseline(double center_y, const Font& font) {
  return int(std::lround(center_y + cap_height(font) / 2.0)) - 1;
}

}  // namespace sact::report
