// Placing pictures in a grid.
#include "report/montage.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/error.h"
#include "report/canvas.h"

namespace sact::report {
namespace {

constexpr Font kFont{12};
constexpr int kCaptionGap = 5;  // between a picture and its caption
constexpr int kLineHeight = 17;
constexpr int64_t kMaxPixels = 400'000'000;
constexpr int64_t kMaxSide = 32'767;  // of Cairo

struct Size {
  int width;
  int height;
};

Size fitted(const io::RgbImage& image, int side) {
  SACT_ASSERT(image.width > 0 && image.height > 0);
  const double scale = double(side) / std::max(image.width, image.height);
  return {std::max(1, int(std::lround(image.width * scale))),
          std::max(1, int(std::lround(image.height * scale)))};
}

/// The height of the highest picture of every row.
std::vector<int> row_heights(const std::vector<io::RgbImage>& images, int columns, int cell_width) {
  std::vector<int> heights;
  for (size_t i = 0; i < images.size(); ++i) {
    if (i % size_t(columns) == 0) heights.push_back(0);
    heights.back() = std::max(heights.back(), fitted(images[i], cell_width).height);
  }
  return heights;
}

int line_count(const std::string& caption) {
  return 1 + int(std::count(caption.begin(), caption.end(), '\n'));
}

void draw_caption(Canvas& canvas, const Rectangle& box, std::string_view caption) {
  Rgb color = kTextColor;
  for (int baseline = box.y + cap_height(kFont) - 1;; baseline += kLineHeight) {
    const std::string_view line = caption.substr(0, caption.find('\n'));
    canvas.text(box.x + box.width / 2.0, baseline, line, kFont, color, Align::kCenter, box.width);
    if (line.size() == caption.size()) break;
    caption.remove_prefix(line.size() + 1);
    color = kFaintTextColor;
  }
}

}  // namespace

io::RgbImage montage(const std::vector<io::RgbImage>& images, int columns, int cell_width,
                     const std::vector<std::string>& captions) {
  SACT_ASSERT(!images.empty() && columns > 0 && cell_width > 0);
  SACT_ASSERT(captions.empty() || captions.size() == images.size());
  columns = int(std::min(images.size(), size_t(columns)));
  int lines = 0;
  for (const std::string& caption : captions) lines = std::max(lines, line_count(caption));
  const int caption_room = lines > 0 ? kCaptionGap + lines * kLineHeight : 0;
  const std::vector<int> heights = row_heights(images, columns, cell_width);
  const int64_t width = kMontageGap + int64_t(columns) * (cell_width + kMontageGap);
  int64_t height = kMontageGap;
  for (const int row : heights) height += row + caption_room + kMontageGap;
  if (width > kMaxSide || height > kMaxSide || width * height > kMaxPixels) {
    fail(
        "contact sheet of {} x {} pixels: expected at most {} on a side and {} in all, use smaller "
        "cells",
        width, height, kMaxSide, kMaxPixels);
  }

  Canvas canvas{int(width), int(height)};
  int y = kMontageGap;
  for (size_t i = 0; i < images.size(); ++i) {
    const size_t column = i % size_t(columns), row = i / size_t(columns);
    if (column == 0 && row > 0) y += heights[row - 1] + caption_room + kMontageGap;
    const int x = kMontageGap + int(column) * (cell_width + kMontageGap);
    const Size size = fitted(images[i], cell_width);
    canvas.blit_scaled(images[i], {x + (cell_width - size.width) / 2,
                                   y + (heights[row] - size.height) / 2, size.width, size.height});
    if (captions.empty()) continue;
    draw_caption(canvas, {x, y + heights[row] + kCaptionGap, cell_width, caption_room},
                 captions[i]);
  }
  return canvas.image();
}

}  // namespace sact::report
