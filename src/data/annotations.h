// Bounding boxes that come beside an image folder: as one CSV table or as XML files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/size.h"
#include "data/dataset.h"
#include "sact/box.h"

namespace sact::data {

/// The boxes of one image in pixels. Without the size of the image that they were drawn in they
/// mean pixels of the image as it is decoded in full.
struct Annotation {
  Size image = {};  // 0 x 0: not given
  std::vector<Box> boxes = {};
  bool has_size() const { return image.height > 0 && image.width > 0; }
};

/// By the index of the sample in the list of files.
using Annotations = std::unordered_map<int64_t, Annotation>;

/// Which images boxes are wanted for: `files` as "class/name.jpg" in `folder`, which is `root` or
/// the directory `root`/train, `root`/val ... of a split.
struct AnnotatedFolder {
  std::filesystem::path root, folder;
  std::vector<std::string> files;
};

/// Reads boxes from a CSV table (see boxes_csv.h) or a directory of XML files (see voc_xml.h).
///
/// A table's files are relative to its own directory when that lies in the root, otherwise to the
/// root; rows about other files are left alone. A wrong row is an error that names it. XML files
/// are looked for as class/name.xml and name.xml, in the directory itself and in a sub-directory
/// named like the split; they come in hundreds of thousands, so damaged ones and ones with an
/// impossible box are counted, the first is named in a warning, and their images have no box.
/// Throws sact::Error when no image at all has a box.
Annotations read_annotations(const std::filesystem::path& source, const AnnotatedFolder& images);

/// The same for a table that happens to lie in the folder: nothing when it is about other images.
Annotations read_annotations_if_any(const std::filesystem::path& table,
                                    const AnnotatedFolder& images);

/// The boxes in shares of the image, cut at its edges. Throws sact::Error, naming the image, when a
/// box lies wholly outside. When the annotation was made for an upright picture and the image is a
/// wide one, or the other way round, an orientation tag came between them and there is no box.
std::vector<NormalizedBox> normalized(const Annotation& annotation, Size decoded,
                                      const std::string& image_name);

/// Why the corners cannot be a box, or nothing: they must be finite, x0 < x1 and y0 < y1, and lie
/// at least partly right of and below the image's corner.
std::string box_problem(double x0, double y0, double x1, double y1);

}  // namespace sact::data
