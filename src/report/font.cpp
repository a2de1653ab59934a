// From UTF-8 to strokes: decoding, reading glyph paths, placing glyphs.
#include "report/font.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "report/glyphs.h"

namespace sact::report {
namespace {

constexpr char32_t kBroken = 0xfffd;
constexpr double kRegularStroke = 9;
constexpr double kBoldStroke = 13;
constexpr double kDotRadius = 1.5;  // of the middle line: dots are a little thicker than strokes

/// Takes one character off the front of `text`; of broken UTF-8 one byte, as kBroken.
char32_t take_character(std::string_view& text) {
  const auto byte = [&text](size_t i) -> unsigned { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};  // that needs so many bytes
  bool good = lead < 0x80 || (lead >= 0xc2 && lead < 0xf5 && text.size() >= length);
  char32_t code = length == 1 ? lead : lead & (0x7fu >> length);
  for (size_t i = 1; good && i < length; ++i) {
    good = (byte(i) & 0xc0) == 0x80;
    code = code << 6 | (byte(i) & 0x3f);
  }
  good = good && code >= kSmallest[length];
  text.remove_prefix(good ? length : 1);
  return good ? code : kBroken;
}

struct Point {
  double x, y;
};

using Stroke = std::vector<Point>;

/// Reads glyph paths into strokes of straight pieces, fine enough for letters of any usual size.
class PathReader {
 public:
  explicit PathReader(std::string_view path) : rest_(path) {}

  std::vector<Stroke> read() {
    while (!rest_.empty()) {
      const char command = rest_.front();
      rest_.remove_prefix(1);
      add(command);
      while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    }
    return std::move(strokes_);
  }

 private:
  void add(char command) {
    switch (command) {
      case 'M':
        strokes_.push_back({point()});
        break;
      case 'L':
        strokes_.back().push_back(point());
        break;
      case 'C':
        add_curve();
        break;
      case 'A':
        if (strokes_.empty()) strokes_.emplace_back();
        add_ellipse_arc();
        break;
      case 'O': {
        strokes_.emplace_back();
        const Point center = point(), radius = point();
        add_arc(center, radius, 0, 360);
        break;
      }
      case 'D':
        strokes_.emplace_back();
        add_arc(point(), {kDotRadius, kDotRadius}, 0, 360);
        break;
      default:
        SACT_ASSERT(!"a known path command");
    }
  }

  void add_ellipse_arc() {
    const Point center = point(), radius = point(), angles = point();
    add_arc(center, radius, angles.x, angles.y);
  }

  void add_arc(Point center, Point radius, double from, double to) {
    const int pieces = std::max(1, int(std::ceil(std::abs(to - from) / 7.5)));
    for (int i = 0; i <= pieces; ++i) {
      const double angle = (from + (to - from) * i / pieces) * std::numbers::pi / 180;
      strokes_.back().push_back(
          {center.x + radius.x * std::cos(angle), center.y + radius.y * std::sin(angle)});
    }
  }

  void add_curve() {
    constexpr int kPieces = 16;
    Stroke& stroke = strokes_.back();
    const Point a = stroke.back(), b = point(), c = point(), d = point();
    for (int i = 1; i <= kPieces; ++i) {
      const double t = double(i) / kPieces, s = 1 - t;
      const double wa = s * s * s, wb = 3 * s * s * t, wc = 3 * s * t * t, wd = t * t * t;
      stroke.push_back(
          {wa * a.x + wb * b.x + wc * c.x + wd * d.x, wa * a.y + wb * b.y + wc * c.y + wd * d.y});
    }
  }

  Point point() {
    const double x = number();
    return {x, number()};
  }

  double number() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
    double value = 0;
    const auto result = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    SACT_ASSERT(result.ec == std::errc());
    rest_.remove_prefix(size_t(result.ptr - rest_.data()));
    return value;
  }

  std::string_view rest_;
  std::vector<Stroke> strokes_;
};

/// A glyph with its path read.
struct ReadGlyph {
  const Glyph* glyph;
  std::vector<Stroke> strokes;
  double right = 0;  // the largest x
};

ReadGlyph read_glyph(const Glyph& glyph) {
  ReadGlyph read{&glyph, PathReader(glyph.path).read()};
  for (const Stroke& stroke : read.strokes) {
    for (const Point& point : stroke) read.right = std::max(read.right, point.x);
  }
  return read;
}

/// The glyph of a character; all paths are read the first time.
const ReadGlyph& glyph_of(char32_t code) {
  static const std::vector<ReadGlyph> kRead = [] {
    std::vector<ReadGlyph> read;
    for (const Glyph& glyph : all_glyphs()) read.push_back(read_glyph(glyph));
    return read;
  }();
  return kRead[size_t(&find_glyph(code) - all_glyphs().data())];
}

double stroke_units(const Font& font) {
  return font.bold ? kBoldStroke : kRegularStroke;
}

double glyph_width(const ReadGlyph& glyph, const Font& font) {
  const double widening = stroke_units(font) - kRegularStroke;
  const double units = glyph.glyph->left + glyph.right + glyph.glyph->right + widening;
  return units * font.size / kUnitsPerSize;
}

/// Design height to pixels, such that baseline, small letters and capitals end on whole pixels.
double hinted_height(double y, const Font& font) {
  const double scale = font.size / kUnitsPerSize;
  const double small = std::max(1.0, std::round(kSmallHeight * scale));
  const double cap = std::max(small + 1, std::round(kCapHeight * scale));
  if (y <= 0) return y * scale;
  if (y <= kSmallHeight) return y / kSmallHeight * small;
  return small + (y - kSmallHeight) / (kCapHeight - kSmallHeight) * (cap - small);
}

void append_segments(const std::vector<Stroke>& strokes, double origin, const Font& font,
                     std::vector<Segment>& out) {
  const double scale = font.size / kUnitsPerSize;
  const auto place = [&](const Point& p) {
    return Point{origin + p.x * scale, -hinted_height(p.y, font)};
  };
  for (const Stroke& stroke : strokes) {
    for (size_t i = 1; i < stroke.size(); ++i) {
      const Point from = place(stroke[i - 1]), to = place(stroke[i]);
      out.push_back({from.x, from.y, to.x, to.y});
    }
  }
}

}  // namespace

TextOutline outline_text(std::string_view text, const Font& font) {
  SACT_ASSERT(font.size > 0);
  TextOutline outline;
  const double scale = font.size / kUnitsPerSize;
  const double widening = (stroke_units(font) - kRegularStroke) * scale;
  outline.half_width = std::max(0.5, stroke_units(font) * scale / 2);
  while (!text.empty()) {
    const ReadGlyph& glyph = glyph_of(take_character(text));
    const double origin = outline.advance + glyph.glyph->left * scale + widening / 2;
    append_segments(glyph.strokes, origin, font, outline.segments);
    outline.advance += glyph_width(glyph, font);
  }
  return outline;
}

double text_width(std::string_view text, const Font& font) {
  double width = 0;
  while (!text.empty()) width += glyph_width(glyph_of(take_character(text)), font);
  return width;
}

int cap_height(const Font& font) {
  const double middle_line = hinted_height(kCapHeight, font);
  return int(std::lround(middle_line + stroke_units(font) * font.size / kUnitsPerSize));
}

std::string fit_text(std::string_view text, const Font& font, double max_width) {
  if (text_width(text, font) <= max_width) return std::string(text);
  constexpr std::string_view kEllipsis = "…";
  double width = text_width(kEllipsis, font);
  if (width > max_width) return {};
  std::string_view rest = text;
  while (true) {
    std::string_view after = rest;
    take_character(after);
    width += text_width(rest.substr(0, rest.size() - after.size()), font);
    if (width > max_width) break;
    rest = after;
  }
  std::string_view kept = text.substr(0, text.size() - rest.size());
  while (kept.ends_with(' ')) kept.remove_suffix(1);
  return std::string(kept).append(kEllipsis);
}

}  // namespace sact::report
