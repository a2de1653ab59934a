#include "engine/slow_network.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sact::engine::test {
namespace {

int strided(int extent, int stride) {
  return (extent + stride - 1) / stride;
}

Features max_pooled(const Features& x) {  // 3x3, stride 2
  Features out({strided(x.size.height, 2), strided(x.size.width, 2)}, x.channels);
  std::fill(out.values.begin(), out.values.end(), -std::numeric_limits<double>::infinity());
  for (int y = 0; y < x.size.height; ++y) {
    for (int column = 0; column < x.size.width; ++column) {
      for (int oy = y / 2; oy <= (y + 1) / 2; ++oy) {
        for (int ox = column / 2; ox <= (column + 1) / 2; ++ox) {
          if (oy >= out.size.height || ox >= out.size.width) continue;
          for (int c = 0; c < x.channels; ++c) {
            out.at(oy, ox, c) = std::max(out.at(oy, ox, c), x.at(y, column, c));
          }
        }
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
  const Features out =
      convolution(image, weight("stem.conv.weight"), spec_.stem_channels(), pooled ? 2 : 1);
  return pooled ? max_pooled(out) : out;
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
  const std::string prefix = unit_prefix(spec_, block, unit);
  const int width = spec_.block_width(block), out = spec_.block_channels(block);
  const int stride = spec_.unit_stride(block, unit);
  const Features p = normalised(x, prefix + "norm1", true);
  if (shortcut) *shortcut = convolution(p, weight(prefix + "downsample.conv.weight"), out, stride);
  const bool bottleneck = spec_.unit == UnitKind::kBottleneck;
  const Features first =
      normalised(convolution(p, weight(prefix + "conv1.weight"), width, bottleneck ? 1 : stride),
                 prefix + "norm2", true);
  if (!bottleneck) return convolution(first, weight(prefix + "conv2.weight"), out, 1);
  const Features second = normalised(
      convolution(first, weight(prefix + "conv2.weight"), width, stride), prefix + "norm3", true);
  return convolution(second, weight(prefix + "conv3.weight"), out, 1);
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
  for (double& score : scores) score = 1 / (1 + std::exp(-score));
  return scores;
}

Features SlowNetwork::run_block(const Features& input, int block, BlockResult& result) const {
  const int units = spec_.units[size_t(block)];
  Features x({0, 0}, 0);
  {
    const Features first = residual(input, block, 0, &x);
    for (size_t i = 0; i < x.values.size(); ++i) x.values[i] += first.values[i];
  }
  const size_t positions = size_t(x.size.positions()), channels = size_t(x.channels);
  result = {Map(x.size.height, x.size.width, float(units)), std::vector<int32_t>(positions, units)};
  Features mean(x.size, x.channels);
  std::vector<HaltingState> states(positions);
  for (int unit = 0; unit < units; ++unit) {
    if (unit > 0) {
      const Features f = residual(x, block, unit, nullptr);
      for (size_t i = 0; i < x.values.size(); ++i) {
        if (states[i / channels].active) x.values[i] += f.values[i];
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
  const std::vector<double> pooled = means(normalised(x, "norm", true));
  std::vector<double> logits;
  for (int o = 0; o < spec_.outputs(); ++o) {
    double sum = weight("head.fc.bias")[size_t(o)];
    for (size_t c = 0; c < pooled.size(); ++c) {
      sum += pooled[c] * double(weight("head.fc.weight")[size_t(o) * pooled.size() + c]);
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
