// The JSON header of a safetensors file, read without building a JSON tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/safetensors.h"

namespace sact::io {

struct HeaderEntry {
  std::string name;
  Dtype dtype = Dtype::kF32;
  Shape shape;
  uint64_t begin = 0, end = 0;  // byte offsets after the header
};

struct Header {
  std::vector<HeaderEntry> entries;
  Metadata metadata;
};

/// Parses the header's text; memory stays proportional to it whatever it contains.
Header parse_header(std::string_view text, const std::string& file_name);

}  // namespace sact::io
