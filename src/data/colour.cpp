// Colours as three numbers from 0 to 1, and a picture of them to paint on.
#include "data/colour.h"

#include <algorithm>
#include <cmath>

namespace sact::data {

Colour clamped(Colour colour) {
  return {std::clamp(colour.r, 0.0f, 1.0f), std::clamp(colour.g, 0.0f, 1.0f),
          std::clamp(colour.b, 0.0f, 1.0f)};
}

float colour_distance(Colour a, Colour b) {
  const Colour d = a - b;
  return std::sqrt(d.r * d.r + d.g * d.g + d.b * d.b);
}

Colour random_colour(Random& random) {
  const double value = random.uniform(0.12, 0.97);
  const double saturation = 0.85 * std::pow(random.uniform(), 1.4);
  const double hue = 6 * random.uniform();
  // A hue is a trapezoid for each channel, a third of the way round from the next.
  auto channel = [&](double offset) {
    const double place = std::fmod(hue + offset, 6.0);
    const double amount = std::clamp(std::abs(place - 3) - 1, 0.0, 1.0);
    return float(value * (1 - saturation * (1 - amount)));
  };
  return {channel(0), channel(4), channel(2)};
}

Colour varied(Colour colour, float amount, Random& random) {
  auto shift = [&](float by) { return by * float(random.normal()); };
  const float together = shift(amount);
  return clamped(colour + Colour{together + shift(amount / 3), together + shift(amount / 3),
                                 together + shift(amount / 3)});
}

Colour Palette::at(float t) const {
  t = std::clamp(t, 0.0f, 1.0f);
  return t < 0.5f ? blend(low, middle, 2 * t) : blend(middle, high, 2 * t - 1);
}

Palette random_palette(Random& random) {
  const Colour base = random_colour(random);
  const float contrast = float(random.uniform(0.06, 0.24));
  const Colour dark = clamped(base * (1 - 2 * contrast));
  const Colour light = clamped(base * (1 + contrast) + Colour{contrast, contrast, contrast} * 0.5f);
  const Colour accent = blend(base, random_colour(random), float(random.uniform(0, 0.5)));
  Palette palette = {varied(dark, 0.04f, random), accent, varied(light, 0.04f, random)};
  if (random.coin()) std::swap(palette.low, palette.high);
  return palette;
}

}  // namespace sact::data
