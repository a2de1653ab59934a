// The weights of a network as devices want them: norms folded into the products before them,
// halting scores into one product for each tap. Plain floats in the order of the model file; every
// device packs them in its own way.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model/architecture.h"
#include "model/weights.h"

namespace sact::engine {

/// Gives the values of a weight.
using WeightSource = std::function<std::vector<float>(const WeightInfo&)>;

/// Those of a detector's box network, from the detector's; both must outlive what it returns.
WeightSource box_weights(const ModelSpec& detector, const WeightSource& weights);

/// A norm in inference: scale * x + shift for every channel.
struct Affine {
  std::vector<float> scale, shift;
};

/// A convolution or fully connected layer, with the norm after it folded in.
struct FoldedLayer {
  ConvStep step;
  std::vector<float> weights;  // [out, in, kernel, kernel]
  std::vector<float> scales;   // [out]: what is still to be multiplied with weights; empty: nothing
  std::vector<float> bias;     // [out]

  /// Does that.
  void scale_weights();
};

/// A halting score before its sigmoid: with m the mean of the input x over positions,
///   global . m + shift + sum over taps of (taps[tap] . x[neighbour] + tap_shifts[tap]),
/// the last for neighbours inside of the image.
struct FoldedScore {
  static constexpr int kTaps = 9;
  HaltingStep step;
  std::vector<float> taps;  // [9, channels]; empty for ACT
  std::array<float, kTaps> tap_shifts = {};
  std::vector<float> global;  // [channels]
  float shift = 0;
};

/// Folds the steps of one network; layer by layer, so that a network is never in memory twice.
class Folding {
 public:
  /// `weights` gives those of a network of this spec, and must outlive this.
  Folding(const ModelSpec& spec, const WeightSource& weights);

  const Architecture& architecture() const { return architecture_; }
  Affine norm(const NormStep& step) const;
  FoldedLayer layer(const ConvStep& step) const;
  /// With its weights as they are stored, and scales.
  FoldedLayer unscaled_layer(const ConvStep& step) const;
  FoldedScore score(const HaltingStep& step) const;

 private:
  std::vector<float> values(const std::string& name) const;

  const Architecture architecture_;
  const double norm_epsilon_;
  const WeightSource& weights_;
  std::map<std::string, WeightInfo> infos_;
};

}  // namespace sact::engine
