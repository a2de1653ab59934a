// What a data set is to training and evaluation: numbered images, each with a class and perhaps
// boxes around what the class names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/image.h"

namespace sact::data {

/// A rectangle in shares of an image's width and height; the default is the whole image.
struct NormalizedBox {
  float x0 = 0, y0 = 0, x1 = 1, y1 = 1;
  bool operator==(const NormalizedBox&) const = default;
};

struct Sample {
  io::RgbImage image;
  int label = 0;
  std::vector<NormalizedBox> boxes = {};
};

/// Immutable once made; every member may be called from several threads at once.
class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual int64_t size() const = 0;
  /// By label; there is at least one class.
  virtual const std::vector<std::string>& class_names() const = 0;
  int classes() const { return int(class_names().size()); }

  /// What messages call the sample: a path, or the set and an index.
  virtual std::string sample_name(int64_t index) const = 0;

  /// The class of a sample, whether or not it can be read.
  virtual int label(int64_t index) const = 0;

  /// Decodes one sample. With `min_side` above 0 a photograph may come at a reduced scale whose
  /// shorter side still has that many pixels. Throws sact::Error when the sample cannot be read.
  virtual Sample load(int64_t index, int min_side = 0) const = 0;
};

}  // namespace sact::data
