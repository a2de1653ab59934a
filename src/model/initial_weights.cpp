#include "model/initial_weights.h"

#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/random.h"
#include "model/architecture.h"

namespace sact {
namespace {

uint64_t hash_of(std::string_view text) {  // FNV-1a
  uint64_t hash = 0xcbf29ce484222325ull;
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3ull;
  return hash;
}

/// Mean and second moment of values.
struct Moments {
  double mean = 0, square = 0;
  double variance() const { return square - mean * mean; }
};

/// Those of the positive part of a normal variable.
Moments rectified(Moments of) {
  const double deviation = std::sqrt(of.variance()), at = of.mean / deviation;
  const double density = std::exp(-at * at / 2) / std::sqrt(2 * M_PI);
  const double share = std::erfc(-at / std::sqrt(2.0)) / 2;
  return {of.mean * share + deviation * density, of.square * share + of.mean * deviation * density};
}

/// What the norms' moving averages would be for white input, if every convolution keeps the
/// variance of rectified input: by the name of the norm.
class ExpectedMoments {
 public:
  ExpectedMoments(const Architecture& architecture, double residual_scale)
      : added_(residual_scale * residual_scale) {
    if (architecture.stem) enter(*architecture.stem);
    for (const auto& block : architecture.blocks) {
      for (const UnitSteps& unit : block) follow(unit);
    }
    if (architecture.head && architecture.head->norm) note(*architecture.head->norm, stream_);
  }

  /// Mean 0 and variance 1 for norms whose input is that of a convolution with a norm before it.
  Moments of(const std::string& norm) const {
    const auto found = moments_.find(norm);
    return found == moments_.end() ? Moments{0, 1} : found->second;
  }

 private:
  /// The moments of the residual stream are `stream_`. A convolution of white input doubles its
  /// second moment, as no ReLU halves it.
  void enter(const StemSteps& stem) {
    stream_ = {0, 2};
    if (!stem.convolution.norm) return;
    note(*stem.convolution.norm, stream_);
    stream_ = rectified({0, 1});
    // The largest of overlapping windows is about the largest of four normal values.
    if (stem.pool) stream_ = {1.03, 1.55};
  }

  void follow(const UnitSteps& unit) {
    if (unit.preactivation) {
      note(*unit.preactivation, stream_);
      // The shortcut of a first unit has rectified input of variance 1.
      stream_ = {0, (unit.shortcut ? 1 : stream_.square) + added_};
    } else {
      const Moments read{0, 2 * stream_.square};
      note(unit.convolutions.front().norm.value(), read);
      if (unit.shortcut) note(unit.shortcut->norm.value(), read);
      const Moments kept = unit.shortcut ? Moments{0, 1} : stream_;
      stream_ = rectified({kept.mean, kept.square + added_});
    }
    if (!unit.halting || !unit.halting->norms) return;
    note(unit.halting->local_norm(), stream_);
    // The global term sees the mean over all positions, whose variance is far smaller.
    const double mean = stream_.mean;
    note(unit.halting->global_norm(), {mean, mean * mean + stream_.variance() / 16});
  }

  void note(const NormStep& norm, Moments moments) { moments_[norm.name] = moments; }

  double added_;
  Moments stream_{0, 2};
  std::map<std::string, Moments> moments_;
};

/// The weights that make a unit's residual large or small.
std::set<std::string> residual_scales(const Architecture& architecture) {
  std::set<std::string> names;
  for (const auto& block : architecture.blocks) {
    for (const UnitSteps& unit : block) {
      const ConvStep& last = unit.convolutions.back();
      names.insert((last.norm ? last.norm->name : last.name) + ".weight");
    }
  }
  return names;
}

std::string norm_of(const std::string& weight) {
  return weight.substr(0, weight.rfind('.'));
}

/// The argument of a sigmoid that gives 1 / (reach L) in a block of L units, by the name of the
/// bias.
std::map<std::string, double> halting_biases(const Architecture& architecture,
                                             const InitialWeights& options) {
  std::map<std::string, double> biases;
  for (const auto& block : architecture.blocks) {
    for (const UnitSteps& unit : block) {
      if (!unit.halting) continue;
      biases[unit.halting->global_name() + ".bias"] =
          options.halting_reach == 0 ? options.halting_bias
                                     : -std::log(options.halting_reach * double(block.size()) - 1);
    }
  }
  return biases;
}

double fan_in(const io::Shape& shape) {
  double product = 1;
  for (size_t i = 1; i < shape.size(); ++i) product *= double(shape[i]);
  return product;
}

void fill_normal(std::vector<float>& values, double deviation, Random random) {
  for (float& value : values) value = float(deviation * random.normal());
}

}  // namespace

std::vector<Weight> initial_weights(const ModelSpec& spec, const InitialWeights& options) {
  const Architecture architecture(spec);
  const ExpectedMoments moments(architecture, options.residual_scale);
  const std::set<std::string> scaled = residual_scales(architecture);
  const std::map<std::string, double> biases = halting_biases(architecture, options);
  std::vector<Weight> weights;
  for (const WeightInfo& info : weight_list(spec)) {
    Weight weight{info, std::vector<float>(size_t(info.elements()))};
    const Random random = Random::derived(options.seed, hash_of(info.name));
    auto fill = [&](double value) { weight.values.assign(weight.values.size(), float(value)); };
    const double scale = scaled.contains(info.name) ? options.residual_scale : 1;
    switch (info.role) {
      case WeightRole::kConvolution:
        fill_normal(weight.values, std::sqrt(2 / fan_in(info.shape)) * scale, random);
        break;
      case WeightRole::kLinear:
        // A detector begins with boxes that are the anchors, and with no opinion.
        fill_normal(weight.values, spec.detection ? 0.01 : 1 / std::sqrt(fan_in(info.shape)),
                    random);
        break;
      case WeightRole::kHaltingWeight:
        fill_normal(weight.values, options.halting_scale, random);
        break;
      case WeightRole::kNormScale:
        fill(scale);
        break;
      case WeightRole::kNormMean:
        fill(moments.of(norm_of(info.name)).mean);
        break;
      case WeightRole::kNormVariance:
        fill(moments.of(norm_of(info.name)).variance());
        break;
      case WeightRole::kHaltingBias:
        fill(biases.at(info.name));
        break;
      case WeightRole::kNormShift:
      case WeightRole::kLinearBias:
        fill(0);
        break;
    }
    weights.push_back(std::move(weight));
  }
  return weights;
}

}  // namespace sact
