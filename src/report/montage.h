// Contact sheets: many pictures in a grid.
#pragma once

#include <string>
#include <vector>

#include "io/image.h"

namespace sact::report {

/// The pictures in rows of `columns`, each scaled to fit a square of `cell_width` pixels and
/// centred in it; rows are no higher than their highest picture. With captions there is one line of
/// text under every picture, shortened to the cell; give one per picture or none at all. Throws
/// sact::Error when the sheet would have more than 400 million pixels.
io::Image montage(const std::vector<io::Image>& images, int columns, int cell_width,
                  const std::vector<std::string>& captions = {});

}  // namespace sact::report
