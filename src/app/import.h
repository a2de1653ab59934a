// Importing a published network into a model file, and saying what was found.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "import/import.h"
#include "io/json.h"
#include "io/safetensors.h"

namespace sact::app {

struct ImportRequest {
  std::filesystem::path source, out;
  io::Dtype dtype = io::Dtype::kF32;  // of large weights
  importing::ImportOptions options;
};

struct ImportReport {
  ImportRequest request;
  importing::ImportedNetwork network;  // without its weights
  int64_t parameters = 0, flops = 0;
  uint64_t bytes = 0;  // of the file

  io::Json json() const;
  std::vector<std::string> lines() const;
};

/// Writes the model file, whole or not at all.
ImportReport run_import(const ImportRequest& request);

}  // namespace sact::app
