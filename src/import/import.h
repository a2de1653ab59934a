// Importing: a network that somebody published becomes one of ours. Nothing is guessed silently:
// what the file does not tell is taken as the library has it that made such networks, and listed.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/model_file.h"
#include "model/spec.h"

namespace sact::importing {

/// What the user knows better than the file.
struct ImportOptions {
  std::optional<StrideOn> stride_on = {};
  std::optional<StemPool> pool = {};
  std::optional<double> norm_epsilon = {};
  std::optional<int> size = {};
  std::optional<double> crop = {};
  std::optional<std::array<double, 3>> mean = {}, std = {};  // of red, green and blue, from 0 to 1
  std::optional<bool> bgr = {};  // the network takes blue, green and red
  std::string labels = {};       // a file, "imagenet" or "none"; empty: ImageNet's for 1000 classes
};

/// Something that was found out, in words, and where.
struct Finding {
  std::string what, value, from;
};

struct ImportedNetwork {
  std::string format, library;  // "safetensors", "timm resnetv2"
  ModelSpec spec;
  std::vector<Weight> weights;
  std::vector<Finding> findings;
  std::vector<std::string> notes;            // what was changed on the way
  std::vector<std::string> ignored;          // what the file has besides
  std::vector<std::filesystem::path> files;  // all that were read
};

ImportedNetwork import_network(const std::filesystem::path& source, const ImportOptions& options);

}  // namespace sact::importing
