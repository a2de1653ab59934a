// The network of the specification as plain loops in double precision: slow, and written without
// LibTorch, so that it can disagree with it. Halting is Algorithm 2 position by position with the
// rule of src/halting.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "halting/halting.h"
#include "model/architecture.h"
#include "model/model_file.h"

namespace sact::test {

/// Values of channels at positions; outside of the image there are zeros.
struct Features {
  int channels = 0;
  Size size;
  std::vector<double> values;

  Features(int channel_count, Size extent)
      : channels(channel_count),
        size(extent),
        values(size_t(channel_count) * size_t(extent.positions())) {}
  size_t index(int c, int y, int x) const {
    return (size_t(c) * size_t(size.height) + size_t(y)) * size_t(size.width) + size_t(x);
  }
  double& at(int c, int y, int x) { return values[index(c, y, x)]; }
  double at(int c, int y, int x) const {
    const bool inside = y >= 0 && x >= 0 && y < size.height && x < size.width;
    return inside ? values[index(c, y, x)] : 0;
  }
};

class PlainLoops {
 public:
  struct Block {
    std::vector<int> units;
    std::vector<double> ponder_cost;
  };
  struct Result {
    std::vector<double> logits;
    std::vector<Block> blocks;
  };

  PlainLoops(ModelSpec spec, const std::vector<Weight>& weights) : spec_(std::move(spec)) {
    for (const Weight& weight : weights) weights_[weight.info.name] = weight;
  }

  /// `image` [3, H, W], normalised.
  Result run(const float* image, Size size) const {
    Features x(3, size);
    for (double& value : x.values) value = *image++;
    const bool imagenet = spec_.stem == Stem::kImageNet;
    x = convolution("stem.conv.weight", x, imagenet ? 2 : 1);
    if (imagenet) x = max_pool(x);
    Result result;
    for (int block = 0; block < spec_.blocks(); ++block) {
      result.blocks.emplace_back();
      x = run_block(block, x, result.blocks.back());
    }
    const std::vector<double> pooled = mean(norm("norm", x, true));
    for (int k = 0; k < spec_.classes; ++k) {
      result.logits.push_back(dot("head.fc.weight", k, pooled) + value("head.fc.bias", k));
    }
    return result;
  }

 private:
  using Mask = std::vector<char>;

  double value(const std::string& name, size_t i) const { return weights_.at(name).values[i]; }

  double dot(const std::string& name, int row, const std::vector<double>& vector) const {
    double sum = 0;
    for (size_t i = 0; i < vector.size(); ++i) {
      sum += value(name, size_t(row) * vector.size() + i) * vector[i];
    }
    return sum;
  }

  double normalised(const std::string& name, size_t c, double x) const {
    const double deviation = std::sqrt(value(name + ".running_var", c) + spec_.norm_epsilon);
    return (x - value(name + ".running_mean", c)) / deviation * value(name + ".weight", c) +
           value(name + ".bias", c);
  }

  Features norm(const std::string& name, Features x, bool relu) const {
    const size_t positions = size_t(x.size.positions());
    for (size_t i = 0; i < x.values.size(); ++i) {
      x.values[i] = normalised(name, i / positions, x.values[i]);
      if (relu) x.values[i] = std::max(0.0, x.values[i]);
    }
    return x;
  }

  /// At the positions of `where`, or everywhere; other positions stay zero.
  Features convolution(const std::string& name, const Features& in, int stride,
                       const Mask* where = nullptr) const {
    const Weight& weight = weights_.at(name);
    const int out_channels = int(weight.info.shape[0]), kernel = int(weight.info.shape[2]);
    Features out(out_channels,
                 {(in.size.height + stride - 1) / stride, (in.size.width + stride - 1) / stride});
    for (int y = 0; y < out.size.height; ++y) {
      for (int x = 0; x < out.size.width; ++x) {
        if (where && !(*where)[out.index(0, y, x)]) continue;
        const float* w = weight.values.data();
        for (int o = 0; o < out_channels; ++o) {
          double sum = 0;
          for (int c = 0; c < in.channels; ++c) {
            for (int i = -(kernel / 2); i <= kernel / 2; ++i) {
              for (int j = -(kernel / 2); j <= kernel / 2; ++j) {
                sum += *w++ * in.at(c, y * stride + i, x * stride + j);
              }
            }
          }
          out.at(o, y, x) = sum;
        }
      }
    }
    return out;
  }

  static Features max_pool(const Features& in) {
    Features out(in.channels, {(in.size.height + 1) / 2, (in.size.width + 1) / 2});
    for (int c = 0; c < in.channels; ++c) {
      for (int y = 0; y < out.size.height; ++y) {
        for (int x = 0; x < out.size.width; ++x) {
          double largest = -INFINITY;
          for (int i = std::max(0, 2 * y - 1); i <= std::min(2 * y + 1, in.size.height - 1); ++i) {
            for (int j = std::max(0, 2 * x - 1); j <= std::min(2 * x + 1, in.size.width - 1); ++j) {
              largest = std::max(largest, in.at(c, i, j));
            }
          }
          out.at(c, y, x) = largest;
        }
      }
    }
    return out;
  }

  static std::vector<double> mean(const Features& x) {
    const size_t positions = size_t(x.size.positions());
    std::vector<double> means(size_t(x.channels));
    for (size_t i = 0; i < x.values.size(); ++i) {
      means[i / positions] += x.values[i] / double(positions);
    }
    return means;
  }

  Features residual(const std::string& prefix, const Features& preactivated, int stride,
                    const Mask* active) const {
    if (spec_.unit == UnitKind::kBasic) {
      const Features hidden = convolution(prefix + "conv1.weight", preactivated, stride);
      return convolution(prefix + "conv2.weight", norm(prefix + "norm2", hidden, true), 1, active);
    }
    const Features narrow = convolution(prefix + "conv1.weight", preactivated, 1);
    const Features middle =
        convolution(prefix + "conv2.weight", norm(prefix + "norm2", narrow, true), stride, active);
    return convolution(prefix + "conv3.weight", norm(prefix + "norm3", middle, true), 1, active);
  }

  Features first_unit(int block, const Features& x) const {
    const std::string prefix = unit_prefix(spec_, block, 0);
    const int stride = spec_.unit_stride(block, 0);
    const Features p = norm(prefix + "norm1", x, true);
    Features sum = convolution(prefix + "downsample.conv.weight", p, stride);
    const Features f = residual(prefix, p, stride, nullptr);
    for (size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += f.values[i];
    return sum;
  }

  /// Changes x at the active positions only.
  void later_unit(int block, int unit, const Mask& active, Features& x) const {
    const std::string prefix = unit_prefix(spec_, block, unit);
    const Features f = residual(prefix, norm(prefix + "norm1", x, true), 1, &active);
    for (size_t i = 0; i < x.values.size(); ++i) {
      if (active[i % active.size()]) x.values[i] += f.values[i];
    }
  }

  /// One score for every position; all the same for ACT.
  Map scores(int block, int unit, const Features& x) const {
    const std::string prefix = unit_prefix(spec_, block, unit) + "halting.";
    std::vector<double> pooled = mean(x);
    for (size_t c = 0; spec_.halting_norm && c < pooled.size(); ++c) {
      pooled[c] = normalised(prefix + "global_norm", c, pooled[c]);
    }
    const double global =
        dot(prefix + "global.weight", 0, pooled) + value(prefix + "global.bias", 0);
    const auto score_of = [this](double argument) {
      const double above = 1 / (1 + std::exp(-argument)) - spec_.score_floor;
      return float(std::max(above / (1 - spec_.score_floor), 0.0));
    };
    Map map(x.size.height, x.size.width, score_of(global));
    if (spec_.halting == Halting::kAct) return map;
    const Features local = convolution(
        prefix + "local.weight", spec_.halting_norm ? norm(prefix + "local_norm", x, false) : x, 1);
    for (size_t i = 0; i < map.values.size(); ++i) {
      map.values[i] = score_of(global + local.values[i]);
    }
    average_tiles(map, spec_.tile);
    return map;
  }

  Features run_block(int block, const Features& input, Block& result) const {
    const int units = spec_.units[size_t(block)];
    const float threshold = halting_threshold(spec_.epsilon);
    Features x = first_unit(block, input), output(x.channels, x.size);
    const size_t positions = size_t(x.size.positions());
    std::vector<HaltingState> states(positions);
    Mask active(positions, 1);
    for (int unit = 0; unit < units; ++unit) {
      if (unit > 0) later_unit(block, unit, active, x);
      if (!spec_.adaptive()) continue;
      const bool last = unit + 1 == units;
      const Map h = last ? Map(x.size.height, x.size.width, 1) : scores(block, unit, x);
      for (size_t i = 0; i < positions; ++i) {
        if (!active[i]) continue;
        const double p = halting_step(states[i], h.values[i], threshold);
        active[i] = states[i].active;
        for (size_t c = 0; c < size_t(x.channels); ++c) {
          output.values[c * positions + i] += p * x.values[c * positions + i];
        }
      }
    }
    for (const HaltingState& state : states) {
      result.units.push_back(spec_.adaptive() ? state.units : units);
      result.ponder_cost.push_back(spec_.adaptive() ? double(state.ponder_cost) : units);
    }
    return spec_.adaptive() ? output : x;
  }

  ModelSpec spec_;
  std::map<std::string, Weight> weights_;
};

}  // namespace sact::test
