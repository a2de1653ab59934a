// A checksum that finds every flipped bit, and any damage of up to 64 bits in a row.
#pragma once

#include <isa-l/crc64.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace sact::io {

/// CRC-64 of ECMA-182, as xz has it. `before` is that of the bytes in front of these.
inline uint64_t crc64(std::span<const std::byte> bytes, uint64_t before = 0) {
  return crc64_ecma_refl(before, reinterpret_cast<const unsigned char*>(bytes.data()),
                         bytes.size());
}

}  // namespace sact::io
