// A folder of photographs in the layout of ImageNet: one directory for each class.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace sact::data {

struct ImageFolderOptions {
  /// A file with names for the classes (see class_names.h); empty: the directories' own names.
  std::string class_names = {};
  /// A CSV table or a directory of XML files (see annotations.h). Empty: boxes.csv in the folder or
  /// in the root if there is one and it is about these images; "none": no boxes.
  std::string boxes = {};
};

/// The splits of an image folder: the sub-directories when `train` or `val` is among them,
/// otherwise none, as the folder is a single set.
std::vector<std::string> image_folder_splits(const std::filesystem::path& root);

/// Opens `root`/`split`/<class>/*.{jpg,jpeg,png}, or `root`/<class>/... where there are no splits:
/// then `split` must be empty or "train". Labels go by the sorted names of the class directories;
/// images are found in directories below them too, sorted by path. Names that start with a dot do
/// not count. Throws sact::Error for a folder without classes and for a class without images.
std::unique_ptr<Dataset> open_image_folder(const std::filesystem::path& root,
                                           const std::string& split,
                                           const ImageFolderOptions& options);

}  // namespace sact::data
