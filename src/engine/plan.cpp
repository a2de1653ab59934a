#include "engine/plan.h"

#include <cmath>
#include <map>

#include "base/error.h"

namespace sact::engine {
namespace {

constexpr size_t kPieceBytes = size_t{16} << 20;

class Builder {
 public:
  Builder(const ModelSpec& spec, const WeightSource& weights, const kernels::Table& table,
          kernels::DataType type, Arena& arena, int& layers)
      : spec_(spec), weights_(weights), table_(table), type_(type), arena_(arena), layers_(layers) {
    for (const WeightInfo& info : weight_list(spec_)) infos_.emplace(info.name, info);
  }

  std::vector<float> values(const std::string& name) const { return weights_(info(name)); }

  Affine norm(const std::string& name) const {
    Affine affine{values(name + ".weight"), values(name + ".bias")};
    const std::vector<float> mean = values(name + ".running_mean");
    const std::vector<float> variance = values(name + ".running_var");
    for (size_t c = 0; c < mean.size(); ++c) {
      affine.scale[c] =
          float(affine.scale[c] / std::sqrt(double(variance[c]) + spec_.norm_epsilon));
      affine.shift[c] -= affine.scale[c] * mean[c];
    }
    return affine;
  }

  /// `after` is the norm that follows, or null.
  Layer convolution(const std::string& name, const Affine* after) {
    const io::Shape& shape = info(name).shape;  // [out, in, height, width]
    const int out = int(shape[0]), in = int(shape[1]);
    const int taps = shape.size() == 4 ? int(shape[2] * shape[3]) : 1;
    return layer(name, {int64_t(in) * taps, taps, 1}, taps, in, out, after);
  }

  /// The rows of the kernel become taps; a tap's depth is the width and the colours, as they lie in
  /// an image.
  Layer stem() {
    const std::string name = "stem.conv.weight";
    const io::Shape& shape = info(name).shape;
    const int out = int(shape[0]), colours = int(shape[1]), side = int(shape[2]);
    const std::vector<float> from = values(name);
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

  Layer head() {
    const int features = spec_.block_channels(spec_.blocks() - 1);
    Layer head = layer("head.fc.weight", {features, 1, 0}, 1, features, spec_.classes, nullptr);
    const std::vector<float> bias = values("head.fc.bias");
    std::copy(bias.begin(), bias.end(), head.bias.begin());
    return head;
  }

  Score score(const std::string& prefix, int channels) {
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

 private:
  const WeightInfo& info(const std::string& name) const {
    const auto found = infos_.find(name);
    SACT_ASSERT(found != infos_.end());
    return found->second;
  }

  Layer layer(const std::string& name, const kernels::WeightStrides& strides, int taps, int depth,
              int columns, const Affine* after) {
    return layer(name, values(name), strides, taps, depth, columns, after);
  }

  Layer layer(const std::string& name, const std::vector<float>& weights,
              const kernels::WeightStrides& strides, int taps, int depth, int columns,
              const Affine* after) {
    Layer layer;
    layer.name = layer_name(name);
    layer.index = layers_++;
    layer.weights =
        kernels::pack_weights(table_, type_, weights.data(), strides,
                              after ? after->scale.data() : nullptr, taps, depth, columns, arena_);
    if (after) layer.bias = after->shift;
    layer.bias.resize(size_t(layer.weights.panels()) * size_t(table_.panel_columns), 0.0f);
    return layer;
  }

  static std::string layer_name(const std::string& weight) {
    return weight.substr(0, weight.rfind('.'));
  }

  const ModelSpec& spec_;
  const WeightSource& weights_;
  const kernels::Table& table_;
  const kernels::DataType type_;
  Arena& arena_;
  int& layers_;
  std::map<std::string, WeightInfo> infos_;
};

}  // namespace

Plan::Plan(const ModelFile& file, const kernels::Table& kernel_table, kernels::DataType operands)
    : Plan(
          file.spec(), [&](const WeightInfo& info) { return file.values(info); }, kernel_table,
          operands) {}

Plan::Plan(const ModelSpec& model, const WeightSource& weights, const kernels::Table& kernel_table,
           kernels::DataType operands)
    : spec(model), table(kernel_table), type(operands), arena(kPieceBytes) {
  Builder builder(spec, weights, table, type, arena, layers);
  stem = builder.stem();
  for (int block = 0; block < spec.blocks(); ++block) {
    blocks.emplace_back();
    for (int number = 0; number < spec.units[size_t(block)]; ++number) {
      const std::string prefix = unit_prefix(block, number);
      Unit unit;
      unit.norm1 = builder.norm(prefix + "norm1");
      const Affine norm2 = builder.norm(prefix + "norm2");
      if (number == 0) {
        unit.shortcut = builder.convolution(prefix + "downsample.conv.weight", nullptr);
      }
      unit.conv1 = builder.convolution(prefix + "conv1.weight", &norm2);
      if (spec.unit == UnitKind::kBottleneck) {
        const Affine norm3 = builder.norm(prefix + "norm3");
        unit.conv2 = builder.convolution(prefix + "conv2.weight", &norm3);
        unit.conv3 = builder.convolution(prefix + "conv3.weight", nullptr);
      } else {
        unit.conv2 = builder.convolution(prefix + "conv2.weight", nullptr);
      }
      if (spec.has_halting_score(block, number)) {
        unit.score = builder.score(prefix + "halting.", spec.block_channels(block));
      }
      blocks.back().push_back(std::move(unit));
    }
  }
  norm = builder.norm("norm");
  head = builder.head();
}

}  // namespace sact::engine
