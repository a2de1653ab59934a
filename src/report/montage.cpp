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
constexpr int kGap = 8;
constexpr int kCaptionGap = 5;    // between a picture and its caption
constexpr int kCaptionRoom = 22;  // for gap, text and its descenders
constexpr int64_t kMaxPixels = 400'000'000;

struct Size {
  int width;
  int height;
};

Size fitted(const io::Image& image, int side) {
  SACT_ASSERT(image.width > 0 && image.height > 0);
  const double scale = double(side) / std::max(image.width, image.height);
  return {std::max(1, int(std::lround(image.width * scale))),
          std::max(1, int(std::lround(image.height * scale)))};
}

/// The height of the highest picture of every row.
std::vector<int> row_heights(const std::vector<io::Image>& images, int columns, int cell_width) {
  std::vector<int> heights;
  for (size_t i = 0; i < images.size(); ++i) {
    if (i % size_t(columns) == 0) heights.push_back(0);
    heights.back() = std::max(heights.back(), fitted(images[i], cell_width).height);
  }
  return heights;
}

}  // namespace

io::Image montage(const std::vector<io::Image>& images, int columns, int cell_width,
                  const std::vector<std::string>& captions) {
  SACT_ASSERT(!images.empty() && columns > 0 && cell_width > 0);
  SACT_ASSERT(captions.empty() || captions.size() == images.size());
  columns = int(std::min(images.size(), size_t(columns)));
  const int caption_room = captions.empty() ? 0 : kCaptionRoom;
  const std::vector<int> heights = row_heights(images, columns, cell_width);
  const int64_t width = kGap + int64_t(columns) * (cell_width + kGap);
  int64_t height = kGap;
  for (const int row : heights) height += row + caption_room + kGap;
  if (width > kMaxPixels || height > kMaxPixels || width * height > kMaxPixels) {
    fail("contact sheet of {} x {} pixels: expected at most {} pixels in all, use smaller cells",
         width, height, kMaxPixels);
  }

  Canvas canvas{int(width), int(height)};
  int y = kGap;
  for (size_t i = 0; i < images.size(); ++i) {
    const size_t column = i % size_t(columns), row = i / size_t(columns);
    if (column == 0 && row > 0) y += heights[row - 1] + caption_room + kGap;
    const int x = kGap + int(column) * (cell_width + kGap);
    const Size size = fitted(images[i], cell_width);
    canvas.blit_scaled(images[i],
                       {x + (cell_width - size.width) / 2, y + (heights[row] - size.height) / 2,
                        size.width, size.height});
    if (captions.empty()) continue;
    canvas.text(x + cell_width / 2.0, y + heights[row] + kCaptionGap + cap_height(kFont) - 1,
                fit_text(captions[i], kFont, cell_width), kFont, kTextColor, Align::kCenter);
  }
  return std::move(canvas).take();
}

}  // namespace sact::report
