// From what the head says of proposals to the objects that are reported.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/size.h"
#include "detect/box.h"

namespace sact::detect {

struct Detection {
  Box box;
  int32_t label = 0;     // class, from 0
  float score = 0;       // probability
  int32_t proposal = 0;  // number of the box it was found in
};

struct DetectionOptions {
  float least_score = 0.05f;
  int most = 100;
  float max_overlap = 0.6f;  // of two boxes of one class
};

/// `outputs` has a row of 1 + 5 * classes numbers for each proposal: scores of background and of
/// the classes before their softmax, then a code of four numbers for the box of every class. The
/// boxes are inside the image, the highest score first.
std::vector<Detection> find_detections(std::span<const Box> proposals,
                                       std::span<const float> outputs, int classes, Size image,
                                       const DetectionOptions& options = {});

}  // namespace sact::detect
