// A detector as two networks: one that extracts features from an image, and one that classifies
// what is cropped out of them.
#pragma once

#include <string>

#include "model/spec.h"

namespace sact {

/// All blocks of a detector but the last, without a head.
ModelSpec extractor_spec(const ModelSpec& detector);

/// The last block with stride 1 and the head; features of a box's cells enter it.
ModelSpec box_spec(const ModelSpec& detector);

/// What runs on images: the extractor of a detector; another network as it is.
ModelSpec image_network(const ModelSpec& spec);

/// The size of images where none is given: a square of the side that the model's spec names.
Size own_size(const ModelSpec& spec);

/// What the detector calls a weight of its box network: "stages.3. ..." for "stages.0. ...".
std::string box_weight_name(const ModelSpec& detector, const std::string& name);

/// Pixels of the scaled image from one position of the features to the next.
int feature_stride(const ModelSpec& detector);

/// The size to which an image is scaled, with the same shape: the shorter side as the detector
/// wants it, or less where the longer one would be too long. sact::Error when no size will do.
Size detection_size(const DetectionSpec& detection, Size image);

}  // namespace sact
