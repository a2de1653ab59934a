#include "model/spec_from_weights.h"

#include <algorithm>
#include <charconv>
#include <climits>

#include "base/error.h"
#include "model/architecture.h"

namespace sact {
namespace {

/// Finds out kind by kind: the names tell the library, the shapes the rest.
class SpecFinder {
 public:
  SpecFinder(const io::TensorTable& tensors, const std::string& file_name)
      : tensors_(tensors), file_name_(file_name) {}

  ModelSpec find() {
    spec_.unit = has("layer1.0.conv1.weight") ? UnitKind::kBottleneckV1 : UnitKind::kBottleneck;
    find_stem();
    find_units();
    const std::string head = Architecture(spec_).head->linear.name;
    spec_.classes = extent(require(head + ".weight", 2).shape[0], "the number of classes");
    find_halting();
    validate(spec_, file_name_);
    return spec_;
  }

 private:
  bool has(const std::string& name) const { return tensors_.find(name) != tensors_.end(); }

  io::TensorView require(const std::string& name, size_t rank) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end()) {
      fail("{}: holds no network that is known here: it has neither a spec nor a tensor '{}'",
           file_name_, name);
    }
    if (found->second.shape.size() < rank) {
      fail("{}: tensor '{}' has the shape {}, but {} dimensions are expected", file_name_, name,
           io::shape_text(found->second.shape), rank);
    }
    return found->second;
  }

  int extent(int64_t value, const std::string& what) const {
    if (value < 1 || value > 1'000'000) fail("{}: {} would be {}", file_name_, what, value);
    return int(value);
  }

  void find_stem() {
    const std::string name = stem_of(spec_)->convolution.name;
    const io::TensorView stem = require(name + ".weight", 4);
    spec_.width = extent(stem.shape[0], "the width");
    if (stem.shape[3] != 7 && stem.shape[3] != 3) {
      fail("{}: its stem has a {}x{} convolution, but only 7x7 and 3x3 stems are known", file_name_,
           stem.shape[2], stem.shape[3]);
    }
    spec_.stem = stem.shape[3] == 7 ? Stem::kImageNet : Stem::kSmall;
  }

  /// Up to the unit of the highest number: one that is missing in between shall be named, and not
  /// give a smaller network.
  int count_units(int block) const {
    const std::string prefix = block_prefix(spec_, block);
    int count = 0;
    for (auto tensor = tensors_.lower_bound(prefix);
         tensor != tensors_.end() && tensor->first.starts_with(prefix); ++tensor) {
      const char* end = tensor->first.data() + tensor->first.size();
      int number = 0;
      const auto [rest, error] = std::from_chars(tensor->first.data() + prefix.size(), end, number);
      if (error == std::errc() && rest != end && *rest == '.' && number >= 0 && number < INT_MAX) {
        count = std::max(count, number + 1);
      }
    }
    return count;
  }

  void find_units() {
    std::vector<int> units;
    for (int block = 0; const int count = count_units(block); ++block) units.push_back(count);
    const io::TensorView first = require(unit_prefix(spec_, 0, 0) + "conv1.weight", 4);
    spec_.units = units;
    if (first.shape[3] == 3) {
      spec_.unit = is_preactivation(spec_.unit) ? UnitKind::kBasic : UnitKind::kBasicV1;
    }
    validate(spec_, file_name_);  // before anything is worked out from the numbers
    const UnitSteps unit = Architecture(spec_).blocks[0][0];
    const NormStep& norm =
        unit.preactivation ? *unit.preactivation : unit.convolutions.front().norm.value();
    if (!has(norm.name + ".running_mean")) {
      fail("{}: its norms have no moving averages; networks with group norm are not supported",
           file_name_);
    }
  }

  void find_halting() {
    for (int block = 0; block < spec_.blocks(); ++block) {
      const HaltingStep halting{unit_prefix(spec_, block, 0) + "halting"};
      if (has(halting.global_name() + ".weight") && spec_.halting == Halting::kNone) {
        spec_.halting = Halting::kAct;
        spec_.halting_norm = has(halting.global_norm().name + ".weight");
      }
      if (has(halting.local_name() + ".weight")) spec_.halting = Halting::kSact;
    }
  }

  const io::TensorTable& tensors_;
  const std::string& file_name_;
  ModelSpec spec_;
};

}  // namespace

ModelSpec spec_from_weights(const io::TensorTable& tensors, const std::string& file_name) {
  return SpecFinder(tensors, file_name).find();
}

}  // namespace sact
