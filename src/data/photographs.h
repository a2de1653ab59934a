// Photographs without classes: every image in some folders.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/held_out.h"

namespace sact::data {

/// All images in the folders and below them, in the order of the folders and sorted by path in
/// each; a file that is reached twice counts once. They are all of one class, "photograph". With
/// `part`, those that are held out or the others, which depends on nothing but their paths below
/// the folders. Throws sact::Error for what is no folder, for one without images, and where nothing
/// is left to hold out.
std::unique_ptr<Dataset> open_photographs(const std::vector<std::string>& folders,
                                          const std::optional<HeldOutPart>& part = std::nullopt);

}  // namespace sact::data
