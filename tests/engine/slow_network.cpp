#include "engine/slow_network.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sact::engine::test {
namespace {

int strided(int extent, int stride) {
  return (extent + stride - 1) / stride;
}

/// Windows along one extent that pooling with 3x3 windows of stride 2 has, and where they begin.
struct PoolWindows {
  int count = 0, first = 0;
};

PoolWindows pool_windows(int extent, StemPool pool) {
  switch (pool) {
    case StemPool::kSymmetric:
      return {(extent + 2 - 3) / 2 + 1, -1};
    case StemPool::kSame:  // an even extent lacks one line, an odd one has a line on either side
      return {strided(extent, 2), extent % 2 == 0 ? 0 : -1};
    case StemPool::kCeil:
      return {strided(extent - 3, 2) + 1, 0};
    case StemPool::kValid:
      return {(extent - 3) / 2 + 1, 0};
  }
  return {};
}

Features max_pooled(const Features& x, StemPool pool) {
  const PoolWindows rows = pool_windows(x.size.height, pool);
  const PoolWindows columns = pool_windows(x.size.width, pool);
  Features out({rows.count, columns.count}, x.channels);
  for (int oy = 0; oy < rows.count; ++oy) {
    for (int ox = 0; ox < columns.count; ++ox) {
      for (int c = 0; c < x.channels; ++c) {
        double largest = -std::numeric_limits<double>::infinity();
        for (int y = 2 * oy + rows.first; y < 2 * oy + rows.first + 3; ++y) {
          for (int column = 2 * ox + columns.first; column < 2 * ox + columns.first + 3; ++column) {
            if (y < 0 || y >= x.size.height || column < 0 || column >= x.size.width) continue;
            largest = std::max(largest, x.at(y, column, c));
          }
        }
        out.at(oy, ox, c) = largest;
      }
    }
  }
  return out;
}

std::vector<double> means(const Features& x) {
  std::vector<double> sums(size_t(x.channels), 0.0);
  for (size_t i = 0; i < x.values.size(); ++i) sums[i % sums.size()] += x.values[i];
  for (double& sum : sums) sum /= double(x.size.positions());
  return sums;
}

}  // namespace

Features convolution(const Features& input, const std::vector<float>& weight, int out, int stride) {
  const int in = input.channels;
  const int kernel = int(std::lround(std::sqrt(double(weight.size()) / (double(out) * in))));
  Features result({strided(input.size.height, stride), strided(input.size.width, stride)}, out);
  for (int y = 0; y < result.size.height; ++y) {
    for (int x = 0; x < result.size.width; ++x) {
      for (int ky = 0; ky < kernel; ++ky) {
        for (int kx = 0; kx < kernel; ++kx) {
          const int sy = y * stride + ky - kernel / 2, sx = x * stride + kx - kernel / 2;
          if (sy < 0 || sy >= input.size.height || sx < 0 || sx >= input.size.width) continue;
          for (int o = 0; o < out; ++o) {
            for (int c = 0; c < in; ++c) {
              result.at(y, x, o) +=
                  input.at(sy, sx, c) *
                  double(weight[size_t(((o * in + c) * kernel + ky) * kernel + kx)]);
            }
          }
        }
      }
    }
  }
  return result;
}

Features SlowNetwork::stem(const Features& image) const {
  const bool pooled = spec_.stem == Stem::kImageNet;
  const int stride = pooled ? 2 : 1;
  const Features out =
      post_activation()
          ? normalised(convolution(image, weight("conv1.weight"), spec_.stem_channels(), stride),
                       "bn1", true)
          : convolution(image, weight("stem.conv.weight"), spec_.stem_channels(), stride);
  return pooled ? max_pooled(out, spec_.stem_pool) : out;
}

Features SlowNetwork::normalised(const Features& x, const std::string& norm, bool relu) const {
  Features out = x;
  for (size_t i = 0; i < out.values.size(); ++i) {
    const size_t c = i % size_t(x.channels);
    const double deviation =
        std::sqrt(double(weight(norm + ".running_var")[c]) + spec_.norm_epsilon);
    const double value = (x.values[i] - weight(norm + ".running_mean")[c]) / deviation *
                             weight(norm + ".weight")[c] +
                         weight(norm + ".bias")[c];
    out.values[i] = relu ? std::max(value, 0.0) : value;
  }
  return out;
}

/// What a unit adds; `shortcut`, of a block's first unit, gets what it is added to.
Features SlowNetwork::residual(const Features& x, int block, int unit, Features* shortcut) const {
  if (post_activation()) return post_activation_residual(x, block, unit, shortcut);
  const std::string prefix = unit_prefix(spec_, block, unit);
  const int width = spec_.block_width(block), out = spec_.block_channels(block);
  const int stride = spec_.unit_stride(block, unit);
  const Features p = normalised(x, prefix + "norm1", true);
  if (shortcut) *shortcut = convolution(p, weight(prefix + "downsample.conv.weight"), out, stride);
  const bool bottleneck = spec_.unit == UnitKind::kBottleneck;
  const int stride1 = !bottleneck || spec_.stride_on == StrideOn::k1x1 ? stride : 1;
  const Features first = normalised(convolution(p, weight(prefix + "conv1.weight"), width, stride1),
                                    prefix + "norm2", true);
  if (!bottleneck) return convolution(first, weight(prefix + "conv2.weight"), out, 1);
  const Features second =
      normalised(convolution(first, weight(prefix + "conv2.weight"), width, stride / stride1),
                 prefix + "norm3", true);
  return convolution(second, weight(prefix + "conv3.weight"), out, 1);
}

Features SlowNetwork::post_activation_residual(const Features& x, int block, int unit,
                                               Features* shortcut) const {
  const std::string prefix = unit_prefix(spec_, block, unit);
  const int width = spec_.block_width(block), out = spec_.block_channels(block);
  const int stride = spec_.unit_stride(block, unit);
  const auto layer = [&](const Features& input, const std::string& conv, const std::string& norm,
                         int channels, int step, bool relu) {
    return normalised(convolution(input, weight(prefix + conv + ".weight"), channels, step),
                      prefix + norm, relu);
  };
  if (shortcut) {
    *shortcut = x.channels == out && stride == 1
                    ? x
                    : layer(x, "downsample.0", "downsample.1", out, stride, false);
  }
  if (spec_.unit == UnitKind::kBasicV1) {
    return layer(layer(x, "conv1", "bn1", width, stride, true), "conv2", "bn2", out, 1, false);
  }
  const bool early = spec_.stride_on == StrideOn::k1x1;
  const Features first = layer(x, "conv1", "bn1", width, early ? stride : 1, true);
  const Features second = layer(first, "conv2", "bn2", width, early ? 1 : stride, true);
  return layer(second, "conv3", "bn3", out, 1, false);
}

std::vector<double> SlowNetwork::scores(const Features& x, int block, int unit) const {
  const std::string prefix = unit_prefix(spec_, block, unit) + "halting.";
  Features pooled({1, 1}, x.channels);
  pooled.values = means(x);
  if (spec_.halting_norm) pooled = normalised(pooled, prefix + "global_norm", false);
  double global = weight(prefix + "global.bias")[0];
  for (int c = 0; c < x.channels; ++c) {
    global += pooled.at(0, 0, c) * double(weight(prefix + "global.weight")[size_t(c)]);
  }
  std::vector<double> scores(size_t(x.size.positions()), global);
  if (spec_.halting == Halting::kSact) {
    const Features local =
        convolution(spec_.halting_norm ? normalised(x, prefix + "local_norm", false) : x,
                    weight(prefix + "local.weight"), 1, 1);
    for (size_t i = 0; i < scores.size(); ++i) scores[i] += local.values[i];
  }
  for (double& score : scores) {
    const double above = 1 / (1 + std::exp(-score)) - spec_.score_floor;
    score = std::max(above / (1 - spec_.score_floor), 0.0);
  }
  return scores;
}

Features SlowNetwork::run_block(const Features& input, int block, BlockResult& result) const {
  const int units = spec_.units[size_t(block)];
  const auto sum = [this](double state, double f) {
    return post_activation() ? std::max(state + f, 0.0) : state + f;
  };
  Features x({0, 0}, 0);
  {
    const Features first = residual(input, block, 0, &x);
    for (size_t i = 0; i < x.values.size(); ++i) x.values[i] = sum(x.values[i], first.values[i]);
  }
  const size_t positions = size_t(x.size.positions()), channels = size_t(x.channels);
  result = {Map(x.size.height, x.size.width, float(units)), std::vector<int32_t>(positions, units)};
  Features mean(x.size, x.channels);
  std::vector<HaltingState> states(positions);
  for (int unit = 0; unit < units; ++unit) {
    if (unit > 0) {
      const Features f = residual(x, block, unit, nullptr);
      for (size_t i = 0; i < x.values.size(); ++i) {
        if (states[i / channels].active) x.values[i] = sum(x.values[i], f.values[i]);
      }
    }
    if (!spec_.adaptive()) continue;
    const bool last = unit + 1 == units;
    const std::vector<double> h =
        last ? std::vector<double>(positions, 1.0) : scores(x, block, unit);
    for (size_t p = 0; p < positions; ++p) {
      if (!states[p].active) continue;
      const double share = halting_step(states[p], float(h[p]), halting_threshold(spec_.epsilon));
      for (size_t c = 0; c < channels; ++c) {
        mean.values[p * channels + c] += share * x.values[p * channels + c];
      }
      result.ponder_cost.values[p] = states[p].ponder_cost;
      result.units[p] = states[p].units;
    }
  }
  return spec_.adaptive() ? mean : x;
}

std::vector<double> SlowNetwork::head(const Features& x) const {
  const std::vector<double> pooled = means(post_activation() ? x : normalised(x, "norm", true));
  const std::string name = post_activation() ? "fc" : "head.fc";
  std::vector<double> logits;
  for (int o = 0; o < spec_.outputs(); ++o) {
    double sum = weight(name + ".bias")[size_t(o)];
    for (size_t c = 0; c < pooled.size(); ++c) {
      sum += pooled[c] * double(weight(name + ".weight")[size_t(o) * pooled.size() + c]);
    }
    logits.push_back(sum);
  }
  return logits;
}

SlowNetwork::Result SlowNetwork::run(const Features& input) const {
  Result result{spec_.stem == Stem::kNone ? input : stem(input), {}, {}};
  for (int block = 0; block < spec_.blocks(); ++block) {
    result.blocks.emplace_back();
    result.features = run_block(result.features, block, result.blocks.back());
  }
  if (spec_.outputs() > 0) result.logits = head(result.features);
  return result;
}

SlowAnchorOutputs slow_anchor_outputs(const Features& features, const ModelSpec& detector,
                                      const WeightMap& weights) {
  auto layer = [&](const Features& x, const std::string& name, int out) {
    Features result = convolution(x, weights.at(name + ".weight"), out, 1);
    for (size_t i = 0; i < result.values.size(); ++i) {
      result.values[i] += weights.at(name + ".bias")[i % size_t(out)];
    }
    return result;
  };
  Features hidden = layer(features, "proposal.conv", detector.detection->proposal_channels);
  for (double& value : hidden.values) value = std::max(value, 0.0);
  const int anchors = detector.detection->anchors();
  return {layer(hidden, "proposal.score", anchors).values,
          layer(hidden, "proposal.box", 4 * anchors).values};
}

}  // namespace sact::engine::test
