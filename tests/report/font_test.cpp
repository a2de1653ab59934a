// Every letter can be drawn and told apart, and widths mean what layouts take them for.
#include "report/font.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "report/canvas.h"
#include "report/pictures.h"

namespace sact::report {
namespace {

io::Image drawn(const std::string& text, const Font& font) {
  Canvas canvas(60, 40);
  canvas.text(15, 28, text, font, {0, 0, 0});
  return canvas.image();
}

int difference(const io::Image& a, const io::Image& b) {
  int sum = 0;
  for (size_t i = 0; i < a.rgb.size(); i += 3) sum += std::abs(a.rgb[i] - b.rgb[i]);
  return sum;
}

std::vector<std::string> all_characters() {
  std::vector<std::string> all;
  for (char c = 33; c < 127; ++c) all.emplace_back(1, c);
  for (const char* symbol : {"ρ", "τ", "×", "±", "·", "−", "µ", "…"}) all.emplace_back(symbol);
  return all;
}

TEST(Font, EveryCharacterDrawsSomethingAndSpaceNothing) {
  const io::Image blank = drawn(" ", {13});
  EXPECT_EQ(test::count_color(blank, kWhite), 60 * 40);
  for (const std::string& character : all_characters()) {
    EXPECT_GT(difference(drawn(character, {13}), blank), 300) << character;
  }
}

TEST(Font, CharactersLookDifferentAtCaptionSize) {
  const std::vector<std::string> all = all_characters();
  std::vector<io::Image> pictures;
  for (const std::string& character : all) pictures.push_back(drawn(character, {12}));
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      EXPECT_GT(difference(pictures[i], pictures[j]), 250) << all[i] << " and " << all[j];
    }
  }
}

TEST(Font, UnknownAndBrokenCharactersBecomeQuestionMarks) {
  const io::Image question = drawn("?", {13});
  for (const std::string text : {"é", "漢", "\n", "\x7f", "\xff", "\xc3", "\xf0\x9f\x98\x80"}) {
    EXPECT_EQ(drawn(text, {13}).rgb, question.rgb) << testing::PrintToString(text);
  }
  EXPECT_EQ(drawn("\xe2\x88", {13}).rgb, drawn("??", {13}).rgb) << "a cut minus sign";
}

TEST(Font, BothMicroSignsAreTheSame) {
  EXPECT_EQ(drawn("\u00b5", {13}).rgb, drawn("\u03bc", {13}).rgb);
}

TEST(Font, WidthsAreAdditiveAndScaleWithSize) {
  const Font font{13};
  const double whole = text_width("block 3 (23 units), mean 14.2", font);
  EXPECT_NEAR(whole, text_width("block 3 (23", font) + text_width(" units), mean 14.2", font),
              1e-9);
  EXPECT_NEAR(text_width("block 3 (23 units), mean 14.2", {26}), 2 * whole, 1e-9);
  EXPECT_EQ(text_width("", font), 0);
  EXPECT_GT(text_width(" ", font), 0);
  EXPECT_GT(text_width("wide", {13, true}), text_width("wide", font));
}

TEST(Font, WidthsAreProportionalButDigitsAreAllTheSame) {
  EXPECT_LT(text_width("i", {13}), 0.5 * text_width("m", {13}));
  for (char digit = '1'; digit <= '9'; ++digit) {
    EXPECT_DOUBLE_EQ(text_width(std::string(1, digit), {13}), text_width("0", {13})) << digit;
  }
}

TEST(Font, StrokesStayWithinTheirAdvanceAndLine) {
  for (const std::string& character : all_characters()) {
    const TextOutline outline = outline_text(character, {100});
    for (const Segment& s : outline.segments) {
      EXPECT_GE(s.x0, 3) << character;
      EXPECT_LE(s.x0, outline.advance - 3.9) << character;
      EXPECT_GE(s.y0, -75) << character;
      EXPECT_LE(s.y0, 21) << character;
    }
  }
}

TEST(Font, CapitalsStandOnTheBaselineAndAreAsHighAsSaid) {
  for (const double size : {11.0, 12.0, 13.0, 14.0, 18.0}) {
    const Font font{size};
    const io::Image image = drawn("H", font);
    int top = image.height, bottom = -1;
    for (int y = 0; y < image.height; ++y) {
      for (int x = 0; x < image.width; ++x) {
        if (image.pixel(x, y)[0] > 128) continue;
        top = std::min(top, y);
        bottom = std::max(bottom, y);
      }
    }
    EXPECT_EQ(bottom, 28) << "size " << size;
    EXPECT_EQ(bottom - top + 1, cap_height(font)) << "size " << size;
    EXPECT_NEAR(cap_height(font), 0.73 * size, 1) << "size " << size;
  }
}

TEST(FitText, TextThatFitsIsUntouched) {
  EXPECT_EQ(fit_text("tabby cat", {13}, text_width("tabby cat", {13})), "tabby cat");
  EXPECT_EQ(fit_text("", {13}, 0), "");
}

TEST(FitText, KeepsTheLongestBeginningThatFits) {
  const Font font{13};
  const double width = text_width("tab…", font);
  EXPECT_EQ(fit_text("tabby cat", font, width + 0.01), "tab…");
  EXPECT_EQ(fit_text("tabby cat", font, width - 0.01), "ta…");
  EXPECT_EQ(fit_text("tabby cat", font, text_width("…", font)), "…");
  EXPECT_EQ(fit_text("tabby cat", font, 1), "");
}

TEST(FitText, NeverCutsInsideACharacterNorAfterASpace) {
  const Font font{13};
  EXPECT_EQ(fit_text("ρρρρ", font, text_width("ρ…", font) + 1), "ρ…");
  EXPECT_EQ(fit_text("tabby cat", font, text_width("tabby …", font) + 0.01), "tabby…");
}

TEST(FitText, ResultsGrowWithTheWidthAndAlwaysFit) {
  const std::string text = "n02123045_1307.jpg: tabby, tabby cat (0.93)";
  size_t previous = 0;
  for (int width = 0; width < 320; width += 3) {
    const std::string fitted = fit_text(text, {13}, width);
    EXPECT_LE(text_width(fitted, {13}), width);
    EXPECT_GE(fitted.size() + 3, previous) << width;  // the ellipsis has three bytes
    previous = fitted.size();
  }
  EXPECT_EQ(previous, text.size());
}

}  // namespace
}  // namespace sact::report
