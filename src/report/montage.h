// Contact sheets: many pictures in a grid.
#pragma once

#include <string>
#include <vector>

#include "io/image.h"

namespace sact::report {

/// Between the pictures, and around them.
inline constexpr int kMontageGap = 8;

/// The pictures in rows of `columns`, each scaled to fit a square of `cell_width` pixels and
/// centred in it; rows are no higher than their highest picture. Captions stand under the pictures;
/// give one per picture or none at all. '\n' parts the lines of a caption, each is shortened to the
/// cell, and lines after the first are faint. Throws sact::Error when the sheet would have more
/// than 400 million pixels, or more than 32 767 on a side.
io::RgbImage montage(const std::vector<io::RgbImage>& images, int columns, int cell_width,
                     const std::vector<std::string>& captions = {});

}  // namespace sact::report
