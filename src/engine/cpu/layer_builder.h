// Makes layers out of the weights of a network: norms folded in, matrices packed for the kernels.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/cpu/plan.h"

namespace sact::engine {

class LayerBuilder {
 public:
  /// The weights are those of a network of this spec. `arena` gets the matrices; layers are
  /// numbered from `layers` on. All must outlive the builder.
  LayerBuilder(const ModelSpec& spec, const WeightSource& weights, const kernels::Table& table,
               kernels::DataType type, Arena& arena, int& layers);

  Affine norm(const std::string& name) const;
  /// `after` is the norm that follows, or null.
  Layer convolution(const std::string& name, const Affine* after);
  /// A convolution or fully connected layer that has a bias.
  Layer with_bias(const std::string& name);
  /// The rows of the kernel become taps; a tap's depth is the width and the colours, as they lie in
  /// an image.
  Layer stem();
  Score score(const std::string& prefix, int channels);

 private:
  const WeightInfo& info(const std::string& name) const;
  std::vector<float> values(const std::string& name) const { return weights_(info(name)); }
  Layer layer(const std::string& name, const std::vector<float>& weights,
              const kernels::WeightStrides& strides, int taps, int depth, int columns,
              const Affine* after);

  const ModelSpec& spec_;
  const WeightSource& weights_;
  const kernels::Table& table_;
  const kernels::DataType type_;
  Arena& arena_;
  int& layers_;
  std::map<std::string, WeightInfo> infos_;
};

}  // namespace sact::engine
