// Centre maps from files.
#pragma once

#include <filesystem>
#include <string>

#include "sact/types.h"

namespace sact::saliency {

/// A centre map from the variable of a MATLAB file or from the brightness of a picture, at the size
/// it has. Throws sact::Error where a number is negative or not finite, or all are equal, and for a
/// picture with transparent colours.
Map read_center(const std::filesystem::path& path, const std::string& variable);

}  // namespace sact::saliency
