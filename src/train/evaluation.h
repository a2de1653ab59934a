// Accuracy, FLOPs and units of a network over a data set.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "train/feeder.h"
#include "train/network.h"
#include "train/processes.h"

namespace sact::train {

struct MeanAndDeviation {
  double mean = 0, std = 0;  // over images
};

struct Evaluation {
  int64_t images = 0;
  int64_t correct = 0, correct5 = 0;
  MeanAndDeviation flops;
  std::vector<MeanAndDeviation> units;        // of each block, mean over positions
  std::vector<MeanAndDeviation> ponder_cost;  // likewise
  double seconds = 0;

  double accuracy() const { return images ? double(correct) / double(images) : 0; }
  double recall5() const { return images ? double(correct5) / double(images) : 0; }
};

/// Runs the network over every readable image. `interrupted` is asked between batches. Several
/// processes share the images, each of them taken by exactly one, and all get the whole result.
/// They need not keep step: nothing is exchanged before each is through with its images.
Evaluation evaluate(Network network, Feeder& feeder, Processes& processes, Size size, int batch,
                    bool bf16, const std::function<bool()>& interrupted = {});

/// Sums from which means and deviations over images are made; sums of shards can be added.
class Moments {
 public:
  void add(double value);
  MeanAndDeviation result() const;

  /// Count, sum and sum of squares: what is added when shards are.
  static constexpr int64_t kSums = 3;
  std::array<double, kSums>& sums() { return sums_; }

 private:
  std::array<double, kSums> sums_ = {};
};

}  // namespace sact::train
