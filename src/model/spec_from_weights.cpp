#include "model/spec_from_weights.h"

#include "base/error.h"
#include "model/weights.h"

namespace sact {
namespace {

io::TensorView require(const io::TensorTable& tensors, const std::string& name, size_t rank,
                       const std::string& file_name) {
  const auto found = tensors.find(name);
  if (found == tensors.end()) {
    fail("{}: holds no network that is known here: it has neither a spec nor a tensor '{}'",
         file_name, name);
  }
  if (found->second.shape.size() < rank) {
    fail("{}: tensor '{}' has the shape {}, but {} dimensions are expected", file_name, name,
         io::shape_text(found->second.shape), rank);
  }
  return found->second;
}

int as_int(int64_t extent, const std::string& what, const std::string& file_name) {
  if (extent < 1 || extent > 1'000'000) fail("{}: {} would be {}", file_name, what, extent);
  return int(extent);
}

}  // namespace

ModelSpec spec_from_weights(const io::TensorTable& tensors, const std::string& file_name) {
  auto has = [&](const std::string& name) { return tensors.find(name) != tensors.end(); };
  ModelSpec spec;
  const io::TensorView stem = require(tensors, "stem.conv.weight", 4, file_name);
  spec.width = as_int(stem.shape[0], "the width", file_name);
  if (stem.shape[3] != 7 && stem.shape[3] != 3) {
    fail("{}: its stem has a {}x{} convolution, but only 7x7 and 3x3 stems are known", file_name,
         stem.shape[2], stem.shape[3]);
  }
  spec.stem = stem.shape[3] == 7 ? Stem::kImageNet : Stem::kSmall;

  spec.units.clear();
  for (int block = 0; has(unit_prefix(block, 0) + "conv1.weight"); ++block) {
    int units = 0;
    while (has(unit_prefix(block, units) + "conv1.weight")) ++units;
    spec.units.push_back(units);
  }
  require(tensors, unit_prefix(0, 0) + "conv1.weight", 4, file_name);
  spec.unit = has(unit_prefix(0, 0) + "conv3.weight") ? UnitKind::kBottleneck : UnitKind::kBasic;
  if (!has(unit_prefix(0, 0) + "norm1.running_mean")) {
    fail("{}: its norms have no moving averages; networks with group norm are not supported",
         file_name);
  }
  const io::TensorView head = require(tensors, "head.fc.weight", 2, file_name);
  spec.classes = as_int(head.shape[0], "the number of classes", file_name);

  for (int block = 0; block < spec.blocks(); ++block) {
    const std::string halting = unit_prefix(block, 0) + "halting.";
    if (has(halting + "global.weight") && spec.halting == Halting::kNone) {
      spec.halting = Halting::kAct;
      spec.halting_norm = has(halting + "global_norm.weight");
    }
    if (has(halting + "local.weight")) spec.halting = Halting::kSact;
  }
  validate(spec, file_name);
  return spec;
}

}  // namespace sact
