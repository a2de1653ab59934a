// Pascal VOC's layout: JPEGImages/ with photographs, Annotations/ with an XML file for each,
// ImageSets/ with lists of names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "detect/coco.h"

namespace sact::detect {

struct VocOptions {
  std::filesystem::path root;
  /// A list of names without endings, one a line, what follows a space passed over: a file, or the
  /// name of ROOT/ImageSets/Main/NAME.txt or ROOT/ImageSets/NAME.txt. Empty: all of Annotations/.
  std::string list = {};
  /// Names of the categories, in their order; empty: those in Annotations/, listed or not, sorted,
  /// so that all lists of a folder have the same.
  std::vector<std::string> categories = {};
};

/// Whether the folder has Annotations/ and JPEGImages/.
bool is_voc(const std::filesystem::path& root);

/// As COCO's annotations, with names of images relative to the root. Ids of images, objects and
/// categories count from 1. Annotations count pixels from 1 and include the last one, so that a box
/// is (xmin - 1, ymin - 1, xmax, ymax); where authors counted from 0 that is cut to 0. Objects
/// marked as difficult become crowds: the data set's own evaluation leaves them out. Throws
/// sact::Error, naming the file, for annotations that are missing, damaged, without a size, or have
/// objects without a name or a box, inverted boxes, or categories that are not among those given.
CocoInstances read_voc(const VocOptions& options);

}  // namespace sact::detect
