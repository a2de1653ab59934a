// The built-in data set: pictures of ten kinds of shape on photograph-like backgrounds, made from a
// seed, for classification and detection without any files.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "io/image.h"
#include "sact/box.h"
#include "sact/types.h"

namespace sact::data {

inline constexpr int kSyntheticClasses = 10;

/// The name of every class, by label. The classes form groups that only the outline tells apart:
/// two stars; ring, open ring and crescent; cross, tee and arrow; heart and drop.
const std::array<std::string_view, kSyntheticClasses>& synthetic_class_names();

struct SyntheticOptions {
  int width = 64;
  int height = 64;
  uint64_t seed = 0;
  /// An object's diameter relative to the shorter side, drawn between these two.
  double min_scale = 0.25;
  double max_scale = 0.55;
  /// Least distance between the mean colours of an object and its surroundings, as the length of
  /// the RGB difference on a scale of 0 to 1 for each channel. Coarse textures get more.
  double min_contrast = 0.25;
  /// Strongest sensor noise, as a standard deviation on the same scale; every picture draws its
  /// own.
  double noise = 0.04;
  /// Largest number of fragments (bars, blobs, arcs) lying about that belong to no class.
  int distractors = 5;
};

struct SyntheticObject {
  int label = 0;
  Box box;  // tight around the object's visible pixels
};

struct SyntheticSample {
  io::RgbImage image;
  int label = 0;
  Box box;
};

struct SyntheticScene {
  io::RgbImage image;
  std::vector<SyntheticObject> objects;
};

/// One picture with one object, entirely inside. A pure function of the options and the index: the
/// same from any thread and in any order. The label is index % 10, so that every run of ten
/// consecutive indices holds each class once; nothing else depends on the label. Another machine's
/// maths library may round a pixel differently.
SyntheticSample synthetic_sample(const SyntheticOptions& options, int64_t index);

/// One picture with `min_objects` to `max_objects` objects whose circumscribed circles do not
/// overlap (so that boxes share at most their corners). The first label is index % 10 and the
/// others are random. Throws sact::Error when `max_objects` of the smallest size would not fit.
SyntheticScene synthetic_scene(const SyntheticOptions& options, int64_t index, int min_objects,
                               int max_objects);

/// The share of every pixel (0 to 1) that the object of `synthetic_sample` covers.
Map synthetic_mask(const SyntheticOptions& options, int64_t index);

/// The same for every object of `synthetic_scene`, in its order.
std::vector<Map> synthetic_masks(const SyntheticOptions& options, int64_t index, int min_objects,
                                 int max_objects);

}  // namespace sact::data
