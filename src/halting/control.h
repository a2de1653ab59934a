// How halting is run, beside what a network has learned: the dial between work and accuracy.
#pragma once

namespace sact {

struct HaltingControl {
  /// Added to the argument of every halting score's sigmoid. Above 0 positions halt earlier, below
  /// later; 0 changes nothing, bit for bit.
  double shift = 0;
  /// The most FLOPs of any image, as a share of the dense network's; see HardBudget. 0, and 1 or
  /// more: no limit.
  double hard_budget = 0;

  bool limits_images() const { return hard_budget > 0 && hard_budget < 1; }
};

}  // namespace sact
