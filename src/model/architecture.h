// The steps of a network, worked out once from its spec.
//
// Everything that knows what a residual unit consists of reads it here: names and shapes of
// weights, FLOPs, fresh weights, the ONNX graph, the engine's plan and the LibTorch network. A new
// kind of unit is one function in architecture.cpp and a row in spec.cpp's table of names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/spec.h"

namespace sact {

/// On which positions a layer is evaluated.
enum class Domain {
  kDense,    // every output position, whatever has halted
  kDilated,  // the 3x3 dilation of the unit's active set
  kActive,   // the unit's active set
  kOnce,     // one vector per image, while the image has an active position
};

/// A batch norm; its weights are NAME.weight, .bias, .running_mean and .running_var.
struct NormStep {
  std::string name;
  int channels = 0;
};

/// A convolution, or a fully connected layer, with what follows it. Windows reach equally far to
/// all sides of their centre, so that an extent n becomes n / stride, rounded up.
struct ConvStep {
  std::string name;  // of its weights, without ".weight"
  int kernel = 1, stride = 1, in = 0, out = 0;
  Domain domain = Domain::kDense;
  bool bias = false;
  std::optional<NormStep> norm = {};  // after it
  bool relu = false;                  // after the norm

  Size output(Size input) const;
};

/// H(x): sigmoid(local * norm(x) + global . norm(mean of x) + bias); ACT has no local term.
struct HaltingStep {
  std::string name;  // "stages.2.blocks.5.halting"
  int channels = 0;
  bool local = false;
  bool norms = true;

  std::string local_name() const { return name + ".local"; }
  std::string global_name() const { return name + ".global"; }
  NormStep local_norm() const { return {name + ".local_norm", channels}; }
  NormStep global_norm() const { return {name + ".global_norm", channels}; }
};

/// A residual unit: F(x) = shortcut(p) + convolutions(p), with a ReLU where `relu` says so, of
/// p = relu(norm(x)) where there is a pre-activation and p = x elsewhere. Without a shortcut
/// convolution x itself is added.
struct UnitSteps {
  std::string name;                       // "stages.2.blocks.5"
  std::optional<NormStep> preactivation;  // has a ReLU after it
  std::optional<ConvStep> shortcut;
  std::vector<ConvStep> convolutions;
  bool relu = false;  // after the sum
  std::optional<HaltingStep> halting;
};

/// Max pooling over 3x3 windows of stride 2.
struct PoolStep {
  std::string name;
  StemPool padding = StemPool::kSymmetric;

  static constexpr int kKernel = 3, kStride = 2;
  /// Lines before the first window's first pixel that are outside of the image.
  int padding_before(int extent) const;
  int output(int extent) const;
  Size output(Size input) const { return {output(input.height), output(input.width)}; }
};

struct StemSteps {
  ConvStep convolution;
  std::optional<PoolStep> pool;
};

/// From the last block to the network's outputs: relu(norm) where there is one, the mean over
/// positions, and a fully connected layer.
struct HeadSteps {
  std::optional<NormStep> norm;
  ConvStep linear;
};

/// Where objects may be: a hidden layer, and of that a score and four numbers for the box of every
/// anchor.
struct ProposalSteps {
  ConvStep hidden, score, box;
};

/// That of a network, if it has one.
std::optional<StemSteps> stem_of(const ModelSpec& spec);

struct Architecture {
  explicit Architecture(const ModelSpec& spec);

  std::optional<StemSteps> stem;               // none where features enter
  std::vector<std::vector<UnitSteps>> blocks;  // [block][unit]
  std::optional<ProposalSteps> proposals;      // of a detector
  std::optional<HeadSteps> head;               // none where features leave
};

/// "stages.2.blocks." or "layer3.": what the names of a block's weights begin with. The numbers of
/// its units follow.
std::string block_prefix(const ModelSpec& spec, int block);

/// "stages.2.blocks.5." or "layer3.5."
std::string unit_prefix(const ModelSpec& spec, int block, int unit);

/// The unit that a weight of any network belongs to, "stages.2.blocks.5"; empty for others.
std::string unit_of(const std::string& weight);

/// Whether a weight belongs to a unit's halting score.
bool is_of_halting(std::string_view weight);

}  // namespace sact
