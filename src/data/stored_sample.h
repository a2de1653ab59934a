// Samples in the form that batches hold: squashed to one size, planes of 8 bits.
#pragma once

#include <cstdint>

#include "base/size.h"
#include "data/dataset.h"
#include "io/image.h"

namespace sact::data {

/// What a batch holds of a sample besides its pixels.
struct StoredSample {
  int32_t label = 0;
  /// Width over height of the image. A photograph decoded at a reduced scale has its sides rounded
  /// up, so this may be off by one part in the storage size.
  float aspect = 1;
  NormalizedBox box;  // the largest of the sample's boxes; the whole image when there is none
};

/// Bytes of the planes of one image.
inline size_t plane_bytes(Size size) {
  return size_t(size.positions()) * 3;
}

/// Writes `image` as planes [3, height, width]: resized without keeping its aspect, rounded to 8
/// bits; copied exactly when it has this size.
void squash(const io::RgbImage& image, Size size, uint8_t* planes);

/// Loads a sample at the smallest scale that suffices and squashes it.
StoredSample store_sample(const Dataset& dataset, int64_t index, Size size, uint8_t* planes);

/// A side for stored images that loses nothing where all images are squares of one size; otherwise
/// enough for the evaluation crop at `size`.
int suitable_storage_size(const Dataset& dataset, int size, double crop);

/// Refuses storage sizes that no network takes.
void check_storage_size(Size size);

}  // namespace sact::data
