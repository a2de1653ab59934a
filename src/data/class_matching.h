// Classes of a data set and those of a network, matched by what they are called.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace sact::data {

/// For each class of a data set the network's class, or what kept one from being found.
struct ClassMatch {
  std::vector<int> classes;
  std::string problem;  // not empty: the classes do not match, and why, in a line
  std::string order;    // what they were matched by, where the network has no labels
};

/// Names are equal when they differ in case, hyphens and underscores at most. Classes of ImageNet
/// are also told by WordNet id ("n01440764") and by any of their names in WordNet. Several of
/// `names` never match one label. A network without labels is matched by number when it has as many
/// classes, and by the usual order of ImageNet when it has 1000 (or 1001: the first is the
/// background) and all names are WordNet ids.
ClassMatch match_classes(const std::vector<std::string>& names,
                         const std::vector<std::string>& labels, int network_classes);

/// The same samples, labelled by the network's classes. `classes` is what match_classes() found.
std::unique_ptr<Dataset> with_network_labels(std::unique_ptr<Dataset> dataset,
                                             std::vector<int> classes,
                                             std::vector<std::string> labels, int network_classes);

}  // namespace sact::data
