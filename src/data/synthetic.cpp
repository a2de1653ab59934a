// The built-in data set: planning a picture, painting it and taking the photograph.
#include "data/synthetic.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.h"
#include "data/background.h"
#include "data/colour.h"
#include "data/object.h"
#include "data/plan.h"
#include "data/shapes.h"

namespace sact::data {
namespace {

// Where things are and what they look like are drawn from separate sequences, so that a mask or a
// box can be had without painting.
constexpr uint64_t kPaintingKey = 0x5061696e74696e67ull;

void apply_light(Canvas& canvas, const Light& light) {
  const float across = 2.0f / float(canvas.width), down = 2.0f / float(canvas.height);
  for (int y = 0; y < canvas.height; ++y) {
    for (int x = 0; x < canvas.width; ++x) {
      const float factor = light.at(float(x) * across - 1, float(y) * down - 1);
      canvas.at(x, y) = canvas.at(x, y) * factor;
    }
  }
}

// Mixes each pixel with its two neighbours along a line; the picture's edge counts double.
void blur_line(Colour* first, size_t step, int count, float share) {
  Colour before = *first;
  for (int i = 0; i < count; ++i) {
    Colour* here = first + size_t(i) * step;
    const Colour old = *here, after = i + 1 < count ? here[step] : old;
    *here = old * (1 - 2 * share) + (before + after) * share;
    before = old;
  }
}

void blur(Canvas& canvas, float share) {
  for (int y = 0; y < canvas.height; ++y) blur_line(&canvas.at(0, y), 1, canvas.width, share);
  for (int x = 0; x < canvas.width; ++x) {
    blur_line(&canvas.at(x, 0), size_t(canvas.width), canvas.height, share);
  }
}

// Close to a standard normal, from one draw: the sum of four 16-bit parts. Box-Muller would take
// most of the time of a picture.
float quick_normal(Random& random) {
  const uint64_t bits = random.bits();
  const uint64_t sum =
      (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  return (float(sum) - 2 * 65535.0f) * (1 / 37837.0f);
}

io::RgbImage expose(const Canvas& canvas, float noise, Random& random) {
  io::RgbImage image(canvas.width, canvas.height);
  uint8_t* out = image.rgb.data();
  auto put = [&](float value, float common) {
    // Bright parts are noisier, as photons are counted; part of the noise is the same in all
    // channels.
    const float strength = noise * (0.6f + 0.6f * value);
    value += strength * (0.7f * common + 0.7f * quick_normal(random));
    *out++ = uint8_t(std::clamp(value, 0.0f, 1.0f) * 255 + 0.5f);
  };
  for (const Colour& colour : canvas.pixels) {
    const float common = quick_normal(random);
    put(colour.r, common);
    put(colour.g, common);
    put(colour.b, common);
  }
  return image;
}

io::RgbImage paint(const SyntheticOptions& options, int64_t index,
                   const std::vector<Shape>& shapes) {
  Random random = Random::derived(options.seed ^ kPaintingKey, uint64_t(index));
  Canvas canvas = random_background(options.width, options.height, random);
  const int fragments = int(random.below(options.distractors + 1));
  const auto colours = paint_fragments(canvas, fragments, shapes, random);
  const Light light = Light::random(random);
  for (const Shape& shape : shapes) {
    // Light takes from a contrast what it takes from the colours.
    const float lit =
        light.at(2 * shape.x / float(options.width) - 1, 2 * shape.y / float(options.height) - 1);
    paint_object(canvas, shape, float(options.min_contrast) / lit, colours, random);
  }
  apply_light(canvas, light);
  if (random.coin()) blur(canvas, float(random.uniform(0, 0.25)));
  const float noise = float(options.noise * random.uniform(0.1, 1));
  return expose(canvas, noise, random);
}

}  // namespace

SyntheticScene synthetic_scene(const SyntheticOptions& options, int64_t index, int min_objects,
                               int max_objects) {
  const auto shapes = plan_shapes(options, index, min_objects, max_objects);
  SyntheticScene scene;
  scene.image = paint(options, index, shapes);
  for (const Shape& shape : shapes) {
    scene.objects.push_back({shape.label, shape_box(shape, options.height, options.width)});
  }
  return scene;
}

SyntheticSample synthetic_sample(const SyntheticOptions& options, int64_t index) {
  SyntheticScene scene = synthetic_scene(options, index, 1, 1);
  const SyntheticObject& object = scene.objects.front();
  return {std::move(scene.image), object.label, object.box};
}

std::vector<Map> synthetic_masks(const SyntheticOptions& options, int64_t index, int min_objects,
                                 int max_objects) {
  std::vector<Map> masks;
  for (const Shape& shape : plan_shapes(options, index, min_objects, max_objects)) {
    masks.push_back(shape_mask(shape, options.height, options.width));
  }
  return masks;
}

Map synthetic_mask(const SyntheticOptions& options, int64_t index) {
  return std::move(synthetic_masks(options, index, 1, 1).front());
}

}  // namespace sact::data
