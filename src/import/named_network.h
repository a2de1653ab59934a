// A network of another library under the names of ours: what the readers of names hand to the
// check.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "import/source.h"
#include "model/spec.h"

namespace sact::importing {

/// Something about a network that its weights alone do not tell, and who says so.
template <typename T>
struct Fact {
  T value{};
  std::string from;  // "the layers' configs", "--pool", "as torchvision has it"
};

struct NamedNetwork {
  std::string library;  // "Keras ResNet"
  /// Under our names and in our layouts; besides, a convolution may have a NAME.bias.
  io::TensorTable tensors;
  std::shared_ptr<const void> memory;
  std::map<std::string, std::string> source_names;  // of ours, where they differ
  std::string prefix;                               // which the source has before all others
  std::map<std::string, double> norm_epsilons;      // of norms, where they are known one by one

  Fact<StrideOn> stride_on;
  Fact<StemPool> pool;
  Fact<double> norm_epsilon;
  Fact<int> size;
  Fact<double> crop;
  Fact<std::array<double, 3>> mean, std;  // of red, green and blue, from 0 to 1
  Fact<bool> bgr;                         // the first convolution takes blue, green and red
  std::vector<std::string> notes;         // what else was done: "prefix 'module.' removed"
  std::vector<std::string> ignored;       // tensors that no network needs

  /// What the source calls a tensor, fit to be printed.
  std::string source_name(const std::string& ours) const {
    const auto found = source_names.find(ours);
    return printable(found == source_names.end() ? prefix + ours : found->second);
  }
};

/// PyTorch names: torchvision's and timm's `resnet`, timm's `resnetv2`.
NamedNetwork name_torch_network(Source source);
/// Keras names, both the old and the new, with the layers' configs.
NamedNetwork name_keras_network(Source source);

}  // namespace sact::importing
