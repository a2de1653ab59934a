// Bounding boxes as a CSV table, as `sact synth` writes it.
#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>

#include "data/annotations.h"

namespace sact::data {

/// The boxes of every file named in the table. Its first line names the columns, in any order:
/// `file`, `x0`, `y0`, `x1`, `y1` in pixels, and optionally `width` and `height` of the image that
/// the pixels refer to (without them photographs must be decoded in full, which is slower). Other
/// columns are left alone. A file may have several rows. Throws sact::Error with the line number
/// for anything wrong.
std::unordered_map<std::string, Annotation> read_boxes_csv(const std::filesystem::path& path);

}  // namespace sact::data
