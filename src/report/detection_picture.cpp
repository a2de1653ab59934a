// Boxes, their texts and where these find room.
#include "report/detection_picture.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "io/resize.h"
#include "report/canvas.h"
#include "report/colorbar.h"
#include "report/overlay.h"
#include "report/panels.h"

namespace sact::report {
namespace {

constexpr PanelLimits kLimits{560, 800, 640};
constexpr Font kTextFont{13, true};
constexpr int kTextMargin = 5;
constexpr int kLine = 2;
constexpr Rgb kBlack{0, 0, 0};
constexpr double kShadow = 0.45;  // beside lines, so that they show on any photograph
constexpr int kMinContentWidth = 600;

/// An object in pixels of its panel, and its text with the chip it stands on.
struct Placed {
  Rectangle box, chip;
  Rgb color;
  std::string text;
};

Rectangle pixels_of(const sact::Box& box, Size photo, const PanelSize& panel) {
  const auto at = [](float value, int extent, int pixels) {
    const double place = std::clamp(double(value) / extent, 0.0, 1.0) * pixels;
    return int(std::lround(place));
  };
  const int x0 = at(box.x0, photo.width, panel.width), x1 = at(box.x1, photo.width, panel.width);
  const int y0 = at(box.y0, photo.height, panel.height);
  const int y1 = at(box.y1, photo.height, panel.height);
  return {x0, y0, std::max(x1 - x0, 1), std::max(y1 - y0, 1)};
}

bool touch(const Rectangle& a, const Rectangle& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/// A place for the text at its box: where it covers no text of a more important object.
Rectangle place_chip(const Rectangle& box, int width, int height, const PanelSize& panel,
                     const std::vector<Placed>& others) {
  const int right = box.x + box.width, bottom = box.y + box.height;
  const Rectangle wanted[] = {{box.x, box.y - height, width, height},
                              {box.x, box.y, width, height},
                              {right - width, box.y - height, width, height},
                              {right - width, box.y, width, height},
                              {box.x, bottom, width, height},
                              {box.x, bottom - height, width, height},
                              {right - width, bottom, width, height},
                              {right - width, bottom - height, width, height}};
  Rectangle first{};
  bool found = false;
  for (Rectangle chip : wanted) {
    chip.x = std::clamp(chip.x, 0, std::max(0, panel.width - width));
    if (chip.y < 0 || chip.y + height > panel.height) continue;
    const bool free = std::none_of(others.begin(), others.end(),
                                   [&](const Placed& other) { return touch(chip, other.chip); });
    if (free) return chip;
    if (!found) first = chip;
    found = true;
  }
  return found ? first : wanted[1];
}

std::vector<Placed> place(const DetectionPicture& picture, const PanelSize& panel) {
  std::vector<Placed> placed;
  const int height = cap_height(kTextFont) + 2 * kTextMargin;
  for (const DrawnObject& object : picture.objects) {
    Placed item;
    item.box = pixels_of(object.box, {picture.photo.height, picture.photo.width}, panel);
    item.color = kind_color(object.kind);
    item.text = object.text;
    const double text = text_width(item.text, kTextFont, panel.width - 2 * kTextMargin);
    const int width = int(std::ceil(text)) + 2 * kTextMargin;
    item.chip = place_chip(item.box, width, height, panel, placed);
    placed.push_back(std::move(item));
  }
  return placed;
}

/// The outermost `line` pixels of a box.
void outline(Canvas& canvas, const Rectangle& box, int line, Rgb color, double alpha) {
  const int across = std::min(line, (box.width + 1) / 2),
            down = std::min(line, (box.height + 1) / 2);
  const int between = std::max(0, box.height - 2 * down);
  canvas.fill_rectangle({box.x, box.y, box.width, down}, color, alpha);
  canvas.fill_rectangle({box.x, box.y + box.height - down, box.width, down}, color, alpha);
  canvas.fill_rectangle({box.x, box.y + down, across, between}, color, alpha);
  canvas.fill_rectangle({box.x + box.width - across, box.y + down, across, between}, color, alpha);
}

Rectangle grown(const Rectangle& box, int by) {
  return {box.x - by, box.y - by, box.width + 2 * by, box.height + 2 * by};
}

void draw_box(Canvas& canvas, const Rectangle& box, int line, Rgb color) {
  outline(canvas, grown(box, 1), 1, kBlack, kShadow);
  outline(canvas, box, line, color, 1);
  if (box.width > 2 * line + 2 && box.height > 2 * line + 2) {
    outline(canvas, grown(box, -line), 1, kBlack, kShadow);
  }
}

void draw_text(Canvas& canvas, const Placed& item) {
  constexpr double kLight = 0.68;
  canvas.fill_rectangle(grown(item.chip, 1), kBlack, kShadow);
  canvas.fill_rectangle(item.chip, item.color);
  const bool light = oklab_from_rgb(item.color).lightness > kLight;
  canvas.text(item.chip.x + kTextMargin,
              centered_baseline(item.chip.y + item.chip.height / 2.0, kTextFont), item.text,
              kTextFont, light ? kBlack : kWhite, Align::kLeft, item.chip.width - 2 * kTextMargin);
}

}  // namespace

Rgb kind_color(int kind) {
  // Hues a golden angle apart never come close soon; lightness tells apart those that do later.
  constexpr double kGoldenAngle = 2.399963229728653, kFirst = 0.5, kChroma = 0.17;
  constexpr double kLightness[] = {0.74, 0.62, 0.82, 0.66, 0.78};
  const double hue = std::fmod(kFirst + kGoldenAngle * std::max(kind, 0), 2 * std::numbers::pi);
  return rgb_from_oklab(
      {kLightness[std::max(kind, 0) % 5], kChroma * std::cos(hue), kChroma * std::sin(hue)});
}

void draw_outlines(io::RgbImage& picture, Size photo, const std::vector<DrawnObject>& objects) {
  if (objects.empty()) return;
  Canvas canvas(picture);
  const PanelSize panel{canvas.width(), canvas.height()};
  for (auto object = objects.rbegin(); object != objects.rend(); ++object) {
    draw_box(canvas, pixels_of(object->box, photo, panel), 1, kind_color(object->kind));
  }
  picture = canvas.image();
}

io::RgbImage draw_detection_picture(const DetectionPicture& picture) {
  SACT_ASSERT(picture.photo.width > 0 && picture.photo.height > 0);
  const PanelSize panel = panel_size(picture.photo, kLimits);
  const std::vector<Placed> placed = place(picture, panel);
  Canvas photo(io::resized(picture.photo, {panel.height, panel.width}));
  const ValueRange range = finite_range(picture.ponder_cost);
  Canvas map(
      map_image(picture.ponder_cost, panel.width, panel.height, range, Interpolation::kNearest));
  for (auto item = placed.rbegin(); item != placed.rend(); ++item) {
    draw_box(photo, item->box, kLine, item->color);
    draw_box(map, item->box, 1, kWhite);
  }
  for (auto item = placed.rbegin(); item != placed.rend(); ++item) draw_text(photo, *item);

  const int bar = kBarGap + colorbar_width(range, bar_height(panel) + 2, kTickFont);
  const int content = std::max(2 * panel.width + kGap + bar, kMinContentWidth);
  const int step = (content - bar + kGap) / 2;
  const int top = kMargin + header_height(picture.subtitle) + kGap;
  Canvas canvas(content + 2 * kMargin, top + row_height(panel) + kMargin);
  draw_header(canvas, picture.title, picture.subtitle, content);
  draw_panel(canvas, kMargin, top, step - kGap, picture.caption, photo.image());
  draw_map_panel(canvas, kMargin + step, top, step - kGap + bar,
                 "ponder cost ρ of the extractor, " + mean_text(picture.ponder_cost), map.image(),
                 range);
  return canvas.image();
}

}  // namespace sact::report
