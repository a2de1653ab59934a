// The norms inside of a detector's halting scores, where these are new and have no statistics.
#pragma once

#include "train/detect/batches.h"
#include "train/torch/detector.h"

namespace sact::train {

/// Sets the moving averages of these norms to the statistics of what they see of some pictures, as
/// measure_halting_norms() does; the head's on boxes at random.
void measure_detector_norms(Detector detector, int64_t dataset_size, const StoredPictures& pictures,
                            uint64_t seed);

}  // namespace sact::train
