// Something that runs a loaded network: each back end is one.
#pragma once

#include <vector>

#include "model/result.h"
#include "model/spec.h"

namespace sact {

class Runner {
 public:
  virtual ~Runner() = default;

  /// Runs `count` images of one size, lying one after another as [3, H, W] planes.
  virtual std::vector<ImageResult> run(const std::vector<float>& planes, int count, Size size) = 0;
};

}  // namespace sact
