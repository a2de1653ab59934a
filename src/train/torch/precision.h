// Precision, algorithms and memory layout on CUDA.
#pragma once

#include "train/torch/libtorch.h"

namespace sact::train {

/// While it lives, operations on CUDA run in bfloat16 where that is safe (LibTorch's autocast).
class Autocast {
 public:
  explicit Autocast(bool enabled);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  bool enabled_;
};

/// While it lives, convolutions on CUDA try all algorithms once for every shape and keep the
/// fastest: right for training, where shapes repeat.
class FastestConvolutions {
 public:
  FastestConvolutions();
  ~FastestConvolutions();
  FastestConvolutions(const FastestConvolutions&) = delete;
  FastestConvolutions& operator=(const FastestConvolutions&) = delete;
};

/// Stores convolution weights channels-last, the layout that tensor cores want.
void to_channels_last(torch::nn::Module& module);

}  // namespace sact::train
