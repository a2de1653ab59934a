// The picture that explains the detections of an image: what was found where, beside where the
// network computed how much.
#pragma once

#include <string>
#include <vector>

#include "base/size.h"
#include "io/image.h"
#include "report/color.h"
#include "sact/box.h"
#include "sact/types.h"

namespace sact::report {

struct DrawnObject {
  sact::Box box;     // in pixels of the photograph
  int kind = 0;      // objects of one kind have one colour
  std::string text;  // "dog 97 %"
};

struct DetectionPicture {
  io::RgbImage photo;
  std::vector<DrawnObject> objects;  // what stands first is on top
  Map ponder_cost;                   // covers the whole photograph
  std::string title, subtitle;
  std::string caption;  // of the photograph
};

/// The photograph with boxes and their texts, beside the ponder cost map with its colour bar and
/// the same boxes in outline.
io::RgbImage draw_detection_picture(const DetectionPicture& picture);

/// The outlines of objects of a photograph of this size, on a picture of it of any size.
void draw_outlines(io::RgbImage& picture, Size photo, const std::vector<DrawnObject>& objects);

/// The colour of a kind. Neighbouring numbers look different; all are light enough for photographs.
Rgb kind_color(int kind);

}  // namespace sact::report
