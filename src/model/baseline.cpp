#include "model/baseline.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace sact {

ModelWeights truncated(const ModelFile& file, const std::vector<int>& units) {
  SACT_ASSERT(units.size() == file.spec().units.size());
  for (size_t block = 0; block < units.size(); ++block) {
    SACT_ASSERT(units[block] >= 1 && units[block] <= file.spec().units[block]);
  }
  ModelSpec spec = file.spec();
  spec.units = units;
  return {spec, read_weights(file, spec)};
}

std::vector<int> baseline_units(std::span<const MeanStd> mean_units, const ModelSpec& plain) {
  SACT_ASSERT(mean_units.size() == plain.units.size());
  std::vector<int> units;
  for (size_t block = 0; block < plain.units.size(); ++block) {
    const double most = plain.units[block];
    units.push_back(int(std::clamp(std::round(mean_units[block].mean), 1.0, most)));
  }
  return units;
}

void check_baseline_source(const ModelFile& adaptive, const ModelFile& plain) {
  const ModelSpec &a = adaptive.spec(), &p = plain.spec();
  if (!a.adaptive()) {
    fail("{}: is a plain network; a baseline is made for a model with halting act or sact",
         adaptive.name());
  }
  if (p.adaptive()) {
    fail("{}: has halting {}; --from must be the plain network (halting none) that {} started from",
         plain.name(), name_of(p.halting), adaptive.name());
  }
  const auto same = [&](std::string_view what, auto of_plain, auto of_adaptive) {
    if (of_plain == of_adaptive) return;
    fail("{}: has {} {} but {} has {}; the baseline must be cut out of a network of the same kind",
         plain.name(), what, of_plain, adaptive.name(), of_adaptive);
  };
  same("stem", name_of(p.stem), name_of(a.stem));
  same("unit kind", name_of(p.unit), name_of(a.unit));
  same("width", p.width, a.width);
  same("number of blocks", p.blocks(), a.blocks());
}

void check_result_of(const EvalResult& result, const ModelFile& adaptive, const std::string& file) {
  const ModelSpec& spec = adaptive.spec();
  if (result.sizes.front().units.size() != spec.units.size()) {
    fail("{}: is a result of a network with {} blocks, but {} has {}", file,
         result.sizes.front().units.size(), adaptive.name(), spec.blocks());
  }
  if (!result.spec) return;
  const ModelSpec& found = *result.spec;
  if (found.halting != spec.halting || found.units != spec.units || found.width != spec.width) {
    fail("{}: is a result of another network (halting {}, units {}) than {} (halting {}, units {})",
         file, name_of(found.halting), fmt::join(found.units, ","), adaptive.name(),
         name_of(spec.halting), fmt::join(spec.units, ","));
  }
}

}  // namespace sact
