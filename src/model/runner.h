// Something that runs a loaded network: each back end is one.
#pragma once

#include <vector>

#include "model/result.h"
#include "model/spec.h"

namespace sact {

class Runner {
 public:
  virtual ~Runner() = default;

  /// Throws sact::Error when a run on so many images, with the input that is still to be made,
  /// needs memory that is not there. Runs ask themselves too, but their input has cost its time by
  /// then.
  virtual void expect_memory(int /*count*/, Size /*size*/) const {}

  /// Runs `count` images of one size, lying one after another as [3, H, W] planes.
  virtual std::vector<ImageResult> run(const std::vector<float>& planes, int count, Size size) = 0;
};

}  // namespace sact
