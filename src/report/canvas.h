// Drawing on an image with Cairo: rectangles, pictures and text, all cut off at the borders.
#pragma once

#include <memory>
#include <string_view>

#include "io/image.h"
#include "report/color.h"
#include "report/text.h"

namespace sact::report {

/// A rectangle of whole pixels; x and y are its left and top.
struct Rectangle {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

class Canvas {
 public:
  Canvas(int width, int height, Rgb background = kWhite);
  explicit Canvas(const io::RgbImage& image);

  int width() const { return width_; }
  int height() const { return height_; }

  /// What has been drawn so far.
  io::RgbImage image() const;

  /// `alpha` below 1 lets what is there shine through, for labels on photographs.
  void fill_rectangle(const Rectangle& box, Rgb color, double alpha = 1);

  /// The outermost pixels of the box.
  void frame(const Rectangle& box, Rgb color);

  void blit(const io::RgbImage& picture, int x, int y);
  void blit_scaled(const io::RgbImage& picture, const Rectangle& box);

  /// `x` is where the text starts, is centred or ends; `baseline` is the lowest row of pixels that
  /// capitals touch. See text_width for what is drawn of a text wider than `max_width`.
  void text(double x, int baseline, std::string_view text, const Font& font, Rgb color,
            Align align = Align::kLeft, double max_width = kAnyWidth);

 private:
  struct Destroy {
    void operator()(_cairo* cairo) const;
  };
  uint32_t* row(int y) const;

  int width_, height_;
  std::unique_ptr<_cairo, Destroy> cairo_;
};

}  // namespace sact::report
