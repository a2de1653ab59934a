// Objects of one image in the XML file that ImageNet and Pascal VOC use.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "data/annotations.h"

namespace sact::data {

/// A box as it stands in the file.
struct VocObject {
  std::string name = {};          // of its class; empty: not given
  bool difficult = false;         // the data set's own evaluation leaves it out
  std::array<double, 4> corners;  // xmin, ymin, xmax, ymax; finite, nothing else is checked
};

struct VocAnnotation {
  Size image = {};  // 0 x 0: not given
  std::vector<VocObject> objects = {};
  int objects_without_box = 0;
};

/// Reads annotation/size/{width,height} and of every annotation/object its name, difficult and
/// bndbox/{xmin,ymin,xmax,ymax}; boxes elsewhere (parts of objects) and everything else are passed
/// over. A size that is missing or 0 counts as not given. Throws sact::Error with `name` for text
/// that is not such a file or is damaged.
VocAnnotation parse_voc_objects(std::string_view text, const std::string& name);

/// The boxes alone. Coordinates are taken as they stand: whether an author counted pixels from 0 or
/// from 1 cannot be told. Refuses boxes that are inverted or outside, too.
Annotation parse_voc_xml(std::string_view text, const std::string& name);

}  // namespace sact::data
