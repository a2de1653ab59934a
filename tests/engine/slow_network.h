// A network in its plainest form, position by position in double precision: what the engine is
// compared with where there is no LibTorch.
#pragma once

#include <string>
#include <vector>

#include "engine/plans.h"
#include "model/architecture.h"

namespace sact::engine::test {

/// Values [H, W, channels].
struct Features {
  Size size;
  int channels = 0;
  std::vector<double> values;

  Features(Size s, int c) : size(s), channels(c), values(size_t(s.positions()) * size_t(c)) {}
  double& at(int y, int x, int c) { return values[index(y, x, c)]; }
  double at(int y, int x, int c) const { return values[index(y, x, c)]; }

 private:
  size_t index(int y, int x, int c) const {
    return (size_t(y) * size_t(size.width) + size_t(x)) * size_t(channels) + size_t(c);
  }
};

/// With zero padding of half the kernel; the weight is [out, in, kernel, kernel].
Features convolution(const Features& input, const std::vector<float>& weight, int out, int stride);

class SlowNetwork {
 public:
  /// Both must outlive the network. The spec has no tiles.
  SlowNetwork(const ModelSpec& spec, const WeightMap& weights) : spec_(spec), weights_(weights) {}

  struct Result {
    Features features;           // of the last block
    std::vector<double> logits;  // empty without a head
    std::vector<BlockResult> blocks;
  };
  Result run(const Features& input) const;

 private:
  Features stem(const Features& image) const;
  Features normalised(const Features& x, const std::string& norm, bool relu) const;
  bool post_activation() const {
    return spec_.unit == UnitKind::kBottleneckV1 || spec_.unit == UnitKind::kBasicV1;
  }
  Features residual(const Features& x, int block, int unit, Features* shortcut) const;
  Features post_activation_residual(const Features& x, int block, int unit,
                                    Features* shortcut) const;
  std::vector<double> scores(const Features& x, int block, int unit) const;
  Features run_block(const Features& x, int block, BlockResult& result) const;
  std::vector<double> head(const Features& x) const;
  const std::vector<float>& weight(const std::string& name) const { return weights_.at(name); }

  const ModelSpec& spec_;
  const WeightMap& weights_;
};

/// What the layers of a detector say of the anchors: scores and codes.
struct SlowAnchorOutputs {
  std::vector<double> scores, codes;
};
SlowAnchorOutputs slow_anchor_outputs(const Features& features, const ModelSpec& detector,
                                      const WeightMap& weights);

}  // namespace sact::engine::test
