// From a network under our names to weights that are stored: every tensor checked, and everything
// folded that our networks do not have.
#pragma once

#include <string>
#include <vector>

#include "import/named_network.h"
#include "model/model_file.h"

namespace sact::importing {

/// Depth, kind of unit, width, stem and classes from names and shapes, the rest from the facts.
/// Throws sact::Error, naming tensors as the source does, unless it has exactly those of such a
/// network.
ModelSpec spec_of(const NamedNetwork& network, const std::string& file_name);

struct Folded {
  int biases = 0;     // of convolutions, now part of the means of the norms after them
  int variances = 0;  // of norms with an epsilon of their own
};

/// The weights of that spec: biases of convolutions and differing epsilons go into the norms, blue,
/// green and red become red, green and blue.
std::vector<Weight> weights_of(const NamedNetwork& network, const ModelSpec& spec,
                               const std::string& file_name, Folded& folded);

}  // namespace sact::importing
