#include "engine/plan.h"

#include <cmath>
#include <map>

#include "base/error.h"

namespace sact::engine {
namespace {

class Builder {
 public:
  Builder(const ModelFile& file, const kernels::Table& table)
      : spec_(file.spec()), table_(table), file_(file) {
    for (const WeightInfo& info : weight_list(spec_)) infos_.emplace(info.name, info);
  }

  std::vector<float> values(const std::string& name) const { return file_.values(info(name)); }

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
  Layer convolution(const std::string& name, const Affine* after) const {
    const io::Shape& shape = info(name).shape;  // [out, in, height, width]
    const int out = int(shape[0]), in = int(shape[1]);
    const int taps = shape.size() == 4 ? int(shape[2] * shape[3]) : 1;
    return layer(transposed(values(name), out, in, taps), taps, in, out, after, {});
  }

  /// The rows of the kernel become taps; a tap's depth is the width and the colours, as they lie in
  /// an image.
  Layer stem() const {
    const std::string name = "stem.conv.weight";
    const io::Shape& shape = info(name).shape;
    const int out = int(shape[0]), colours = int(shape[1]), side = int(shape[2]);
    const std::vector<float> from = values(name);
    std::vector<float> to(from.size());
    size_t index = 0;
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        for (int c = 0; c < colours; ++c) {
          for (int o = 0; o < out; ++o) {
            to[index++] = from[size_t(((o * colours + c) * side + y) * side + x)];
          }
        }
      }
    }
    return layer(to, side, side * colours, out, nullptr, {});
  }

  Layer head() const {
    const std::string name = "head.fc.weight";
    const int features = spec_.block_channels(spec_.blocks() - 1);
    return layer(transposed(values(name), spec_.classes, features, 1), 1, features, spec_.classes,
                 nullptr, values("head.fc.bias"));
  }

  Score score(const std::string& prefix, int channels) const {
    Score score;
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
    score.taps.resize(local.size());
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

  /// [out, in, taps] -> [taps, in, out]
  static std::vector<float> transposed(const std::vector<float>& from, int out, int in, int taps) {
    std::vector<float> to(from.size());
    for (int o = 0; o < out; ++o) {
      for (int i = 0; i < in; ++i) {
        for (int t = 0; t < taps; ++t) {
          to[(size_t(t) * size_t(in) + size_t(i)) * size_t(out) + size_t(o)] =
              from[(size_t(o) * size_t(in) + size_t(i)) * size_t(taps) + size_t(t)];
        }
      }
    }
    return to;
  }

  Layer layer(std::vector<float> weights, int taps, int depth, int columns, const Affine* after,
              const std::vector<float>& bias) const {
    if (after) {
      for (size_t i = 0; i < weights.size(); ++i) weights[i] *= after->scale[i % size_t(columns)];
    }
    Layer layer;
    layer.weights = kernels::pack_weights(table_, kernels::DataType::kFloat32, weights.data(), taps,
                                          depth, columns);
    layer.bias = after ? after->shift : bias;
    layer.bias.resize(size_t(layer.weights.panels()) * size_t(table_.panel_columns), 0.0f);
    return layer;
  }

  const ModelSpec& spec_;
  const kernels::Table& table_;
  const ModelFile& file_;
  std::map<std::string, WeightInfo> infos_;
};

}  // namespace

Plan::Plan(const ModelFile& file, const kernels::Table& kernel_table)
    : spec(file.spec()), table(kernel_table) {
  const Builder builder(file, table);
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
