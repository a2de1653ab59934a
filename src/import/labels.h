// Names of classes as other projects keep them: lines of text, or JSON.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sact::importing {

/// One name a line; a JSON array of names; or a JSON object of class numbers, each with a name or
/// with a list of the WordNet id and the name ({"0": ["n01440764", "tench"], ...}). Throws
/// sact::Error unless there are `classes` of them.
std::vector<std::string> read_labels(const std::filesystem::path& file, int classes);

/// The usual name of every class of ImageNet, in the usual order.
std::vector<std::string> imagenet_labels();

}  // namespace sact::importing
