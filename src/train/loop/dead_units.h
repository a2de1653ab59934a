// Units that no position reached in a whole epoch.
#pragma once

#include <string>
#include <vector>

#include "model/spec.h"
#include "train/loop/task.h"

namespace sact::train {

class DeadUnits {
 public:
  explicit DeadUnits(const ModelSpec& spec) : units_(spec.units), total_(spec.total_units()) {}

  /// Takes the largest N of each block in an epoch. Where other units are dead than before, and not
  /// in every epoch, the report gets a warning or a note.
  void see(const EpochNumbers& numbers, EpochReport& told);

  int count() const;
  /// "block 1: unit 5; block 3: units 2 to 4", or nothing. Later units are reached only through
  /// earlier ones, so the dead are the last of their block.
  std::string text() const;

 private:
  std::vector<int> units_;  // of each block
  int total_;
  std::vector<int> dead_;  // of each block, the last so many
};

}  // namespace sact::train
