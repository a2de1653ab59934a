// Patterns of grey like those of surfaces in photographs, at any size of picture.
#pragma once

#include "base/random.h"
#include "sact/types.h"

namespace sact::data {

/// A surface: `tone` (0 to 1) chooses the colour from a palette, `shade` (about 1) lights it.
struct Texture {
  Map tone;
  Map shade;
};

/// Smooth noise with a spectrum that falls like frequency^-`slope`, from `wavelength` pixels down
/// to two, with mean 0 and standard deviation 1. Above 1, `grain` draws the pattern out sideways.
Map fractal_noise(int height, int width, double wavelength, double slope, double grain,
                  Random& random);

Texture cloud_texture(int height, int width, Random& random);   // clouds, rock, water, foliage
Texture stripe_texture(int height, int width, Random& random);  // bent stripes, sharp or soft
Texture weave_texture(int height, int width, Random& random);   // threads over and under
Texture brick_texture(int height, int width, Random& random);   // courses of bricks or tiles
Texture pebble_texture(int height, int width, Random& random);  // pebbles, cracks, scales
Texture blob_texture(int height, int width, Random& random);    // lights out of focus

/// One of the above.
Texture random_texture(int height, int width, Random& random);

}  // namespace sact::data
