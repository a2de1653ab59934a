// Changing the size of an image.
#pragma once

#include "io/image.h"

namespace sact::report {

enum class Scaling {
  kSmooth,   // for photographs: averages when shrinking, linear interpolation when enlarging
  kNearest,  // for maps: every pixel keeps a value that was there
};

/// The image at the given size. Both sizes must be above zero.
io::Image scaled(const io::Image& image, int width, int height, Scaling scaling);

}  // namespace sact::report
