// What a training run says of itself when it starts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/spec.h"

namespace sact::train {

struct RunFacts {
  std::string run, data;
  int64_t train_images = 0, val_images = 0;
  ModelSpec spec;
  std::string init;  // model that it starts from; empty: fresh weights
  int64_t seed = 0;
  int64_t epochs = 0, steps_per_epoch = 0, batch = 0;
  std::string device, precision;
  int processes = 1, threads = 1, workers = 1;
  std::string images_kept;      // "in memory" or the like; may be empty
  int64_t epoch = 0, step = 0;  // where it goes on; step 0: a new run
};

/// Lines with images, classes, network, FLOPs, device, folder, and what is resumed.
std::vector<std::string> banner(const RunFacts& facts);

}  // namespace sact::train
