#include "model/initial_weights.h"

#include <cmath>
#include <string_view>

#include "base/error.h"
#include "base/random.h"

namespace sact {
namespace {

uint64_t hash_of(std::string_view text) {  // FNV-1a
  uint64_t hash = 0xcbf29ce484222325ull;
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3ull;
  return hash;
}

/// Variance of the residual stream where a norm reads it, if every convolution keeps the variance
/// of its normalised input: the stem gives 2 (no ReLU before it), the shortcut of a first unit 1,
/// and every unit adds the square of its residual branch's scale.
class StreamVariance {
 public:
  StreamVariance(const ModelSpec& spec, double residual_scale)
      : spec_(spec), added_(residual_scale * residual_scale) {}

  double at(std::string_view norm_name) const {
    if (norm_name == "norm.running_var") return after(spec_.blocks() - 1, last_unit());
    int block = 0, unit = 0, used = 0;
    if (std::sscanf(std::string(norm_name).c_str(), "stages.%d.blocks.%d.%n", &block, &unit,
                    &used) != 2) {
      return 1;
    }
    const std::string_view rest = norm_name.substr(size_t(used));
    if (rest.starts_with("norm1.")) return before(block, unit);
    if (rest.starts_with("halting.local_norm.")) return after(block, unit);
    // The global term sees the mean over all positions, whose variance is far smaller.
    if (rest.starts_with("halting.global_norm.")) return after(block, unit) / 16;
    return 1;
  }

 private:
  int last_unit() const { return spec_.units.back() - 1; }
  double before(int block, int unit) const {
    if (unit > 0) return after(block, unit - 1);
    return block == 0 ? 2 : after(block - 1, spec_.units[size_t(block - 1)] - 1);
  }
  double after(int, int unit) const { return 1 + added_ * (1 + unit); }

  const ModelSpec& spec_;
  double added_;
};

/// The argument of a sigmoid that gives 1 / (reach L) in a block of L units.
double halting_bias(const ModelSpec& spec, const std::string& name, const InitialWeights& options) {
  if (options.halting_reach == 0) return options.halting_bias;
  int block = 0;
  const int found = std::sscanf(name.c_str(), "stages.%d.", &block);
  SACT_ASSERT(found == 1);
  return -std::log(options.halting_reach * spec.units[size_t(block)] - 1);
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
  const StreamVariance variance(spec, options.residual_scale);
  const char* last = spec.unit == UnitKind::kBottleneck ? ".conv3.weight" : ".conv2.weight";
  std::vector<Weight> weights;
  for (const WeightInfo& info : weight_list(spec)) {
    Weight weight{info, std::vector<float>(size_t(info.elements()))};
    const Random random = Random::derived(options.seed, hash_of(info.name));
    auto fill = [&](double value) { weight.values.assign(weight.values.size(), float(value)); };
    switch (info.role) {
      case WeightRole::kConvolution:
        fill_normal(weight.values,
                    std::sqrt(2 / fan_in(info.shape)) *
                        (info.name.ends_with(last) ? options.residual_scale : 1),
                    random);
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
        fill(1);
        break;
      case WeightRole::kNormVariance:
        fill(variance.at(info.name));
        break;
      case WeightRole::kHaltingBias:
        fill(halting_bias(spec, info.name, options));
        break;
      case WeightRole::kNormShift:
      case WeightRole::kNormMean:
      case WeightRole::kLinearBias:
        fill(0);
        break;
    }
    weights.push_back(std::move(weight));
  }
  return weights;
}

}  // namespace sact
