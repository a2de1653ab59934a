// What decoders of images may take of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "io/image.h"

namespace sact::io {

/// The memory that decoding a file of `file_bytes` may take: some for buffers, four bytes for each
/// pixel that `options` allow, and 80 for each byte of the file. Photographs take far less; a few
/// hundred bytes, made for that, could take gigabytes.
uint64_t most_decoding_bytes(size_t file_bytes, const ReadOptions& options);

/// Refuses an image that takes more, or more than there is.
void check_decoding_bytes(uint64_t bytes, size_t file_bytes, const std::string& name,
                          const ReadOptions& options);

/// What an image of `bytes` takes while it is turned by an EXIF code.
inline uint64_t decoded_bytes(uint64_t bytes, int orientation) {
  return orientation > 1 ? 2 * bytes : bytes;
}

}  // namespace sact::io
