// Layout of the sheet: a heading, the contact sheet, and the colour bar beside its first row.
#include "report/ponder_sheet.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "io/resize.h"
#include "report/canvas.h"
#include "report/colorbar.h"
#include "report/montage.h"
#include "report/overlay.h"

namespace sact::report {
namespace {

constexpr Font kHeadingFont{14};
constexpr Font kTickFont{12};
constexpr int kCellSide = 240;
constexpr int kMaxRows = 80;       // more would be too high for Cairo
constexpr int kMinBarHeight = 64;  // room for three numbers
constexpr int kMargin = 16;
constexpr double kOverlayStrength = 0.6;

}  // namespace

PonderSheet::Cell PonderSheet::cell(const io::RgbImage& photo, Map ponder_cost, std::string caption,
                                    std::vector<DrawnObject> objects) {
  const double scale = std::min(1.0, double(kCellSide) / std::max(photo.width, photo.height));
  const auto side = [scale](int extent) { return std::max(1, int(std::lround(extent * scale))); };
  return {io::resized(photo, {side(photo.height), side(photo.width)}), std::move(ponder_cost),
          std::move(caption), std::move(objects), Size{photo.height, photo.width}};
}

void PonderSheet::add(Cell cell) {
  cells_.push_back(std::move(cell));
}

io::RgbImage PonderSheet::draw(int columns) const {
  SACT_ASSERT(!cells_.empty());
  ValueRange range;
  for (const Cell& cell : cells_) range = united(range, finite_range(cell.ponder_cost));
  std::vector<io::RgbImage> pictures;
  std::vector<std::string> captions;
  for (const Cell& cell : cells_) {
    pictures.push_back(overlay(cell.photo, cell.ponder_cost, range, kOverlayStrength));
    draw_outlines(pictures.back(), cell.size, cell.objects);
    captions.push_back(cell.caption);
  }
  const int columns_needed = (int(cells_.size()) + kMaxRows - 1) / kMaxRows;
  const io::RgbImage grid =
      montage(pictures, std::max(columns, columns_needed), kCellSide, captions);

  const int bar_height = std::clamp(grid.height - 2 * kMontageGap, kMinBarHeight, kCellSide);
  const int bar_width = colorbar_width(range, bar_height, kTickFont);
  const int heading_height = kMargin + cap_height(kHeadingFont) + kMargin / 2;
  const int bar_bottom = kMontageGap + bar_height + kMargin;
  Canvas canvas(grid.width + kMargin / 2 + bar_width + kMargin,
                heading_height + std::max(grid.height, bar_bottom));
  canvas.text(kMontageGap, kMargin + cap_height(kHeadingFont) - 1,
              "ponder cost ρ, one scale for all images", kHeadingFont, kTextColor, Align::kLeft,
              canvas.width() - 2 * kMontageGap);
  canvas.blit(grid, 0, heading_height);
  draw_colorbar(canvas, grid.width + kMargin / 2, heading_height + kMontageGap, bar_height, range,
                kTickFont);
  return canvas.image();
}

}  // namespace sact::report
