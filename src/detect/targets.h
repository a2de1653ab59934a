// What a detector in training is asked for: which anchor or proposal stands for which object.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "detect/box.h"

namespace sact::detect {

/// An object of an image, in the pixels in which boxes are compared.
struct Object {
  Box box;
  int32_t label = 0;
  bool crowd = false;  // a region with many objects: neither right nor wrong
};

inline constexpr int32_t kBackground = -1;
inline constexpr int32_t kIgnored = -2;

/// For every box the number of its object, kBackground or kIgnored. A box stands for the object it
/// overlaps most if that is at least `object_overlap`; below `background_overlap` it is background,
/// and between the two it is ignored, as is background of which half lies in a crowd. With
/// `every_object`, the box that overlaps an object most stands for it, however little that is.
struct MatchOptions {
  float object_overlap = 0.5f;
  float background_overlap = 0.5f;
  bool every_object = false;
};
std::vector<int32_t> match(std::span<const Box> boxes, std::span<const Object> objects,
                           const MatchOptions& options);

/// At most `count` numbers of matched boxes at random, of which at most `object_share` stand for
/// objects; those first. Ignored ones are left out.
struct BoxSample {
  std::vector<int64_t> chosen;
  int64_t objects = 0;  // the first so many stand for objects
};
BoxSample draw_sample(std::span<const int32_t> matches, int count, double object_share,
                      Random random);

}  // namespace sact::detect
