// A hash of text that is the same on every machine and in every version.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/random.h"

namespace sact {

/// FNV-1a, and one step of mixing for its weak upper bits: texts that differ in their last letter
/// only are far apart.
inline uint64_t stable_hash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : text) hash = (hash ^ uint8_t(c)) * 0x100000001b3ull;
  return Random(hash).bits();
}

}  // namespace sact
