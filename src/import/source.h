// What an import starts from: the named tensors of a file, of whichever format, and what else it
// says.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/json.h"
#include "io/safetensors.h"

namespace sact::importing {

struct Source {
  std::string name;    // of the file, for messages
  std::string format;  // "safetensors"
  io::TensorTable tensors;
  std::shared_ptr<const void> memory;        // which the tensors' bytes belong to
  std::vector<std::string> ignored;          // what the file has besides: "optimizer", "epoch"
  std::optional<io::Json> layers;            // of a TensorFlow.js model: the list of its layers
  std::vector<std::filesystem::path> files;  // all that were read
};

/// Tells the format by the file's first bytes. A directory stands for the model.json or
/// model.safetensors in it. Throws sact::Error when it is no format that is read here.
Source open_source(const std::filesystem::path& path);

/// The readers of each format.
Source open_safetensors(const std::filesystem::path& path);
Source open_torch_file(const std::filesystem::path& path);
Source open_tfjs(const std::filesystem::path& path);

}  // namespace sact::importing
