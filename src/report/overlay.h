// Maps as colours, alone and laid over a photograph.
#pragma once

#include "io/image.h"
#include "report/value_range.h"
#include "sact/types.h"

namespace sact::report {

enum class Interpolation { kNearest, kBilinear };

/// The map stretched to the given size, in the colours of `range`. Values that are not finite are
/// drawn in kMissingColor.
io::RgbImage map_image(const Map& map, int width, int height, const ValueRange& range,
                       Interpolation interpolation);

/// The map stretched over the photograph. With `strength` from 0 to 1 the photograph loses its own
/// colours and takes those of the map: 0 gives the photograph, 1 the map.
io::RgbImage overlay(const io::RgbImage& photo, const Map& map, const ValueRange& range,
                     double strength);

}  // namespace sact::report
