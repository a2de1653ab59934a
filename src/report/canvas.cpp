// A surface of Cairo with 32 bits a pixel, and the way from and to images with 24.
#include "report/canvas.h"

#include <cairo.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "io/resize.h"
#include "report/pictures.h"

namespace sact::report {
namespace {

/// The part of a box that lies on an image of the given size. May be empty. Cairo's own coordinates
/// end at some millions.
Rectangle clipped(const Rectangle& box, int width, int height) {
  const int64_t left = std::max(box.x, 0);
  const int64_t top = std::max(box.y, 0);
  const int64_t right = std::min<int64_t>(int64_t(box.x) + box.width, width);
  const int64_t bottom = std::min<int64_t>(int64_t(box.y) + box.height, height);
  if (right <= left || bottom <= top) return {};
  return {int(left), int(top), int(right - left), int(bottom - top)};
}

void set_color(cairo_t* cairo, Rgb color, double alpha = 1) {
  cairo_set_source_rgba(cairo, color.r / 255.0, color.g / 255.0, color.b / 255.0, alpha);
}

}  // namespace

bool can_draw_pictures() {
  return true;
}

void need_pictures() {}

void Canvas::Destroy::operator()(_cairo* cairo) const {
  cairo_destroy(cairo);
}

Canvas::Canvas(int width, int height, Rgb background) : width_(width), height_(height) {
  SACT_ASSERT(width > 0 && height > 0);
  cairo_surface_t* surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
  cairo_.reset(cairo_create(surface));
  cairo_surface_destroy(surface);  // the context keeps it
  if (cairo_status(cairo_.get()) != CAIRO_STATUS_SUCCESS) {
    fail("a picture of {} x {} pixels cannot be drawn: {}", width, height,
         cairo_status_to_string(cairo_status(cairo_.get())));
  }
  set_color(cairo_.get(), background);
  cairo_paint(cairo_.get());
}

Canvas::Canvas(const io::RgbImage& image) : Canvas(image.width, image.height) {
  SACT_ASSERT(image.rgb.size() == size_t(image.width) * size_t(image.height) * 3);
  blit(image, 0, 0);
}

/// Pixels are 0xRRGGBB. Cairo must not be in the middle of something, and is told afterwards.
uint32_t* Canvas::row(int y) const {
  cairo_surface_t* surface = cairo_get_target(cairo_.get());
  uint8_t* data = cairo_image_surface_get_data(surface);
  return reinterpret_cast<uint32_t*>(data +
                                     size_t(y) * size_t(cairo_image_surface_get_stride(surface)));
}

io::RgbImage Canvas::image() const {
  cairo_surface_flush(cairo_get_target(cairo_.get()));
  io::RgbImage image(width_, height_);
  for (int y = 0; y < height_; ++y) {
    const uint32_t* from = row(y);
    uint8_t* to = image.pixel(0, y);
    for (int x = 0; x < width_; ++x, to += 3) {
      to[0] = uint8_t(from[x] >> 16);
      to[1] = uint8_t(from[x] >> 8);
      to[2] = uint8_t(from[x]);
    }
  }
  return image;
}

void Canvas::fill_rectangle(const Rectangle& box, Rgb color, double alpha) {
  const Rectangle part = clipped(box, width_, height_);
  if (part.width == 0) return;
  set_color(cairo_.get(), color, alpha);
  cairo_rectangle(cairo_.get(), part.x, part.y, part.width, part.height);
  cairo_fill(cairo_.get());
}

void Canvas::frame(const Rectangle& box, Rgb color) {
  if (box.width <= 0 || box.height <= 0) return;
  const int64_t right = int64_t(box.x) + box.width - 1;
  const int64_t bottom = int64_t(box.y) + box.height - 1;
  fill_rectangle({box.x, box.y, box.width, 1}, color);
  fill_rectangle({box.x, box.y, 1, box.height}, color);
  if (bottom < height_) fill_rectangle({box.x, int(bottom), box.width, 1}, color);
  if (right < width_) fill_rectangle({int(right), box.y, 1, box.height}, color);
}

void Canvas::blit(const io::RgbImage& picture, int x, int y) {
  const Rectangle part = clipped({x, y, picture.width, picture.height}, width_, height_);
  if (part.width == 0) return;
  cairo_surface_t* surface = cairo_get_target(cairo_.get());
  cairo_surface_flush(surface);
  for (int line = part.y; line < part.y + part.height; ++line) {
    const uint8_t* from = picture.pixel(part.x - x, line - y);
    uint32_t* to = row(line) + part.x;
    for (int i = 0; i < part.width; ++i, from += 3) {
      to[i] = uint32_t(from[0]) << 16 | uint32_t(from[1]) << 8 | from[2];
    }
  }
  cairo_surface_mark_dirty_rectangle(surface, part.x, part.y, part.width, part.height);
}

void Canvas::blit_scaled(const io::RgbImage& picture, const Rectangle& box) {
  blit(io::resized(picture, {box.height, box.width}), box.x, box.y);
}

void Canvas::text(double x, int baseline, std::string_view text, const Font& font, Rgb color,
                  Align align, double max_width) {
  SACT_ASSERT(std::isfinite(x));
  constexpr double kFar = 1e6;  // no text reaches from there, and Cairo's coordinates end soon
  if (std::abs(x) > kFar || std::abs(double(baseline)) > kFar) return;
  set_color(cairo_.get(), color);
  draw_text(cairo_.get(), x, baseline + 1.0, text, font, align, max_width);
}

}  // namespace sact::report
