// Layouts of Pango, a set of them for each thread, and which fonts they may use.
#include "report/text.h"

#include <pango/pangocairo.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unicode.h"
#include "report/fonts.h"

namespace sact::report {
namespace {

struct Unref {
  void operator()(gpointer object) const { g_object_unref(object); }
};
template <typename T>
using Owned = std::unique_ptr<T, Unref>;

/// A layout that sets one text after the other in the same font.
class Setter {
 public:
  Setter(PangoContext* context, const Font& font)
      : font_(font), layout_(pango_layout_new(context)) {
    const std::unique_ptr<PangoFontDescription, decltype(&pango_font_description_free)> description(
        pango_font_description_from_string("DejaVu Sans, sans-serif"), pango_font_description_free);
    pango_font_description_set_absolute_size(description.get(), font.size * PANGO_SCALE);
    if (font.bold) pango_font_description_set_weight(description.get(), PANGO_WEIGHT_BOLD);
    pango_layout_set_font_description(layout_.get(), description.get());
    pango_layout_set_single_paragraph_mode(layout_.get(), true);
    pango_layout_set_ellipsize(layout_.get(), PANGO_ELLIPSIZE_END);
    // Texts are sentences of ours with names inside: they begin on the left whatever the names are.
    pango_layout_set_auto_dir(layout_.get(), false);
    PangoRectangle ink;
    pango_layout_line_get_pixel_extents(line("H", kAnyWidth), &ink, nullptr);
    cap_height_ = std::max(1, ink.height);
  }

  const Font& font() const { return font_; }
  int cap_height() const { return cap_height_; }

  /// The text as one line; valid until the next text.
  PangoLayoutLine* line(std::string_view text, double max_width) {
    const std::string clean = single_line(text);
    if (clean != pango_layout_get_text(layout_.get())) {
      pango_layout_set_text(layout_.get(), clean.data(), int(clean.size()));
    }
    const double widest = double(G_MAXINT) / PANGO_SCALE;
    const int width =
        max_width < widest ? int(std::floor(std::max(0.0, max_width) * PANGO_SCALE)) : -1;
    pango_layout_set_width(layout_.get(), width);
    return pango_layout_get_line_readonly(layout_.get(), 0);
  }

 private:
  Font font_;
  Owned<PangoLayout> layout_;
  int cap_height_ = 0;
};

/// All of Pango that a thread uses: its objects must not be shared.
class Typesetter {
 public:
  Typesetter() {
    prepare_fonts();
    map_.reset(pango_cairo_font_map_new());
    context_.reset(pango_font_map_create_context(map_.get()));
    // Said here, so that pictures do not depend on what somebody likes on their screen.
    const std::unique_ptr<cairo_font_options_t, decltype(&cairo_font_options_destroy)> options(
        cairo_font_options_create(), cairo_font_options_destroy);
    cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_SLIGHT);
    cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_ON);
    pango_cairo_context_set_font_options(context_.get(), options.get());
    pango_context_set_base_dir(context_.get(), PANGO_DIRECTION_LTR);
    pango_context_set_language(context_.get(), pango_language_from_string("en"));
  }

  Setter& setter(const Font& font) {
    for (Setter& known : setters_) {
      if (known.font() == font) return known;
    }
    constexpr size_t kMany = 16;  // more than our pictures use
    if (setters_.size() >= kMany) setters_.clear();
    return setters_.emplace_back(context_.get(), font);
  }

 private:
  Owned<PangoFontMap> map_;
  Owned<PangoContext> context_;
  std::vector<Setter> setters_;
};

Setter& setter(const Font& font) {
  SACT_ASSERT(font.size > 0);
  thread_local Typesetter typesetter;
  return typesetter.setter(font);
}

double width_of(PangoLayoutLine* line) {
  PangoRectangle logical;
  pango_layout_line_get_extents(line, nullptr, &logical);
  return double(logical.width) / PANGO_SCALE;
}

}  // namespace

double text_width(std::string_view text, const Font& font, double max_width) {
  return text.empty() ? 0 : width_of(setter(font).line(text, max_width));
}

int cap_height(const Font& font) {
  return setter(font).cap_height();
}

int centered_baseline(double center_y, const Font& font) {
  return int(std::lround(center_y + cap_height(font) / 2.0)) - 1;
}

void draw_text(_cairo* cairo, double x, double y, std::string_view text, const Font& font,
               Align align, double max_width) {
  if (text.empty()) return;
  PangoLayoutLine* line = setter(font).line(text, max_width);
  const double before = align == Align::kLeft     ? 0
                        : align == Align::kCenter ? width_of(line) / 2
                                                  : width_of(line);
  cairo_move_to(cairo, std::round(x - before), y);  // whole pixels keep small text sharp
  pango_cairo_show_layout_line(cairo, line);
}

}  // namespace sact::report
