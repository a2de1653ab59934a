// Drawing on an image: rectangles, lines, pictures and text, all cut off at the borders.
#pragma once

#include <span>
#include <string_view>

#include "io/image.h"
#include "report/color.h"
#include "report/font.h"

namespace sact::report {

/// A rectangle of whole pixels; x and y are its left and top.
struct Box {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

enum class Align { kLeft, kCenter, kRight };

class Canvas {
 public:
  Canvas(int width, int height, Rgb background = kWhite);
  explicit Canvas(io::Image image);

  int width() const { return image_.width; }
  int height() const { return image_.height; }
  const io::Image& image() const { return image_; }
  io::Image take() && { return std::move(image_); }

  void fill(Rgb color);

  /// `alpha` below 1 lets what is there shine through, for labels on photographs.
  void fill_rectangle(const Box& box, Rgb color, double alpha = 1);

  /// The outermost pixels of the box.
  void frame(const Box& box, Rgb color);

  /// Coordinates are continuous: pixel (x, y) covers x ... x + 1; `thickness` in pixels.
  void line(double x0, double y0, double x1, double y1, double thickness, Rgb color);

  void blit(const io::Image& picture, int x, int y);
  void blit_scaled(const io::Image& picture, const Box& box);

  /// `x` is where the text starts, is centred or ends; `baseline` is the lowest row of pixels that
  /// capitals touch.
  void text(double x, int baseline, std::string_view text, const Font& font, Rgb color,
            Align align = Align::kLeft);

 private:
  void stroke(std::span<const Segment> segments, double half_width, Rgb color);
  void blend(int x, int y, Rgb color, double alpha);

  io::Image image_;
};

/// The baseline that centres capitals and digits on the given height.
int centered_baseline(double center_y, const Font& font);

}  // namespace sact::report
