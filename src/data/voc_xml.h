// Bounding boxes of one image as the XML file that ImageNet and Pascal VOC use.
#pragma once

#include <string>
#include <string_view>

#include "data/annotations.h"

namespace sact::data {

/// Reads annotation/size/{width,height} and annotation/object/bndbox/{xmin,ymin,xmax,ymax}; boxes
/// elsewhere (parts of objects) and everything else are passed over. A size that is missing or 0
/// counts as not given. Coordinates are taken as they stand: whether an author counted pixels from
/// 0 or from 1 cannot be told. Throws sact::Error with `name` for text that is not such a file or
/// is damaged, and for boxes that are inverted or outside.
Annotation parse_voc_xml(std::string_view text, const std::string& name);

}  // namespace sact::data
