#include "engine/cpu/layer_builder.h"

#include <cmath>

#include "base/error.h"

namespace sact::engine {

LayerBuilder::LayerBuilder(const ModelSpec& spec, const WeightSource& weights,
                           const kernels::Table& table, kernels::DataType type, Arena& arena,
                           int& layers)
    : spec_(spec), weights_(weights), table_(table), type_(type), arena_(arena), layers_(layers) {
  for (const WeightInfo& info : weight_list(spec_)) infos_.emplace(info.name, info);
}

Affine LayerBuilder::norm(const std::string& name) const {
  Affine affine{values(name + ".weight"), values(name + ".bias")};
  const std::vector<float> mean = values(name + ".running_mean");
  const std::vector<float> variance = values(name + ".running_var");
  for (size_t c = 0; c < mean.size(); ++c) {
    affine.scale[c] = float(affine.scale[c] / std::sqrt(double(variance[c]) + spec_.norm_epsilon));
    affine.shift[c] -= affine.scale[c] * mean[c];
  }
  return affine;
}

Layer LayerBuilder::convolution(const std::string& name, const Affine* after) {
  const io::Shape& shape = info(name + ".weight").shape;  // [out, in, height, width] or [out, in]
  const int out = int(shape[0]), in = int(shape[1]);
  const int taps = shape.size() == 4 ? int(shape[2] * shape[3]) : 1;
  return layer(name, values(name + ".weight"), {int64_t(in) * taps, taps, 1}, taps, in, out, after);
}

Layer LayerBuilder::with_bias(const std::string& name) {
  Layer layer = convolution(name, nullptr);
  const std::vector<float> bias = values(name + ".bias");
  std::copy(bias.begin(), bias.end(), layer.bias.begin());
  return layer;
}

Layer LayerBuilder::stem() {
  const std::string name = "stem.conv";
  const io::Shape& shape = info(name + ".weight").shape;
  const int out = int(shape[0]), colours = int(shape[1]), side = int(shape[2]);
  const std::vector<float> from = values(name + ".weight");
  std::vector<float> to(from.size());
  size_t index = 0;
  for (int o = 0; o < out; ++o) {
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        for (int c = 0; c < colours; ++c) {
          to[index++] = from[size_t(((o * colours + c) * side + y) * side + x)];
        }
      }
    }
  }
  const int depth = side * colours;
  return layer(name, to, {int64_t(side) * depth, 1, depth}, side, depth, out, nullptr);
}

Score LayerBuilder::score(const std::string& prefix, int channels) {
  Score score;
  score.name = prefix.substr(0, prefix.size() - 1);
  score.index = layers_++;
  auto folded = [&](const std::string& norm_name) {
    if (spec_.halting_norm) return norm(prefix + norm_name);
    return Affine{std::vector<float>(size_t(channels), 1.0f),
                  std::vector<float>(size_t(channels), 0.0f)};
  };
  const Affine global_norm = folded("global_norm");
  score.global = values(prefix + "global.weight");
  double shift = values(prefix + "global.bias")[0];
  for (size_t c = 0; c < score.global.size(); ++c) {
    shift += double(score.global[c]) * global_norm.shift[c];
    score.global[c] *= global_norm.scale[c];
  }
  score.shift = float(shift);
  if (spec_.halting != Halting::kSact) return score;
  const Affine local_norm = folded("local_norm");
  const std::vector<float> local = values(prefix + "local.weight");  // [1, C, 3, 3]
  score.taps = arena_.take<float>(int64_t(local.size()));
  for (size_t tap = 0; tap < 9; ++tap) {
    double tap_shift = 0;
    for (size_t c = 0; c < size_t(channels); ++c) {
      tap_shift += double(local[c * 9 + tap]) * local_norm.shift[c];
      score.taps[tap * size_t(channels) + c] = local[c * 9 + tap] * local_norm.scale[c];
    }
    score.tap_shift[tap] = float(tap_shift);
  }
  return score;
}

const WeightInfo& LayerBuilder::info(const std::string& name) const {
  const auto found = infos_.find(name);
  SACT_ASSERT(found != infos_.end());
  return found->second;
}

Layer LayerBuilder::layer(const std::string& name, const std::vector<float>& weights,
                          const kernels::WeightStrides& strides, int taps, int depth, int columns,
                          const Affine* after) {
  Layer layer;
  layer.name = name;
  layer.index = layers_++;
  layer.weights =
      kernels::pack_weights(table_, type_, weights.data(), strides,
                            after ? after->scale.data() : nullptr, taps, depth, columns, arena_);
  if (after) layer.bias = after->shift;
  layer.bias.resize(size_t(layer.weights.panels()) * size_t(layer.weights.panel_columns), 0.0f);
  return layer;
}

}  // namespace sact::engine
