// A limit to the FLOPs of every image. All back ends ask it who goes on, so that all agree.
//
// Stem, head and the first unit of every block are always evaluated. What the limit leaves beyond
// these is shared among the blocks in proportion to the FLOPs of their other units; what a block
// does not use is left to later ones. After each unit the FLOPs of the next are known exactly.
// Where they are more than the block has left, positions with the highest cumulative scores halt
// now, as few as will do.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/flops.h"

namespace sact {

class HardBudget {
 public:
  /// `share` of the dense network's FLOPs on an image of that size. sact::Error, with the smallest
  /// possible, when an image cannot be run with so few.
  HardBudget(const ModelSpec& spec, Size image, double share);

  /// The smallest share, rounded up to a thousandth.
  static double smallest(const ModelSpec& spec, Size image);

  int64_t most_flops() const { return most_; }

  /// What an image has spent of what is left beyond the minimum; one for each image.
  struct Account {
    int64_t spent = 0;
  };

  /// After unit `unit` of a block, from 0, that is not its last. `cumulative` has the sum of scores
  /// at every position of an image, that of this unit included; positions where it has reached the
  /// threshold do not go on. It becomes 1 where a position must halt now. Tiles halt as a whole, an
  /// image with one score (ACT) likewise. Of equal sums the last positions halt first.
  void limit(int block, int unit, std::span<float> cumulative, Account& account) const;

  /// FLOPs of a unit for each position of its active set, of the set's dilation, and for the image.
  struct UnitCost {
    int64_t active = 0, dilated = 0, once = 0;
    int64_t of(const UnitActivity& activity) const;
  };
  /// What limit() works with after a unit, for devices that have their own form of it.
  struct Terms {
    float threshold = 0;
    int group_side = 1;  // of the squares that halt together
    UnitCost next_unit;
    int64_t allowance = 0;  // of this block and all before it
  };
  Terms terms(int block, int unit) const;

 private:
  struct Block {
    Size size;
    std::vector<UnitCost> units;
    int64_t allowance = 0;  // of this block and all before it
  };

  float threshold_;
  int group_side_;  // of the squares that halt together
  int64_t most_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace sact
