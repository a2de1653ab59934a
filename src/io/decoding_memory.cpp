#include "io/decoding_memory.h"

#include <algorithm>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

namespace sact::io {

uint64_t most_decoding_bytes(size_t file_bytes, const ReadOptions& options) {
  constexpr uint64_t kPerPixel = 4, kPerFileByte = 80, kBuffers = 16 << 20;
  const uint64_t pixels = uint64_t(std::clamp<int64_t>(options.max_pixels, 0, kMostPixels));
  return kBuffers + kPerPixel * pixels + kPerFileByte * file_bytes;
}

void check_decoding_bytes(uint64_t bytes, size_t file_bytes, const std::string& name,
                          const ReadOptions& options) {
  if (bytes > most_decoding_bytes(file_bytes, options)) {
    fail(
        "{}: would take {} of memory to decode, absurdly much for a file of {}; make the image "
        "smaller first",
        name, format_bytes(bytes), format_bytes(file_bytes));
  }
  expect_memory(bytes, fmt::format("{}: decoding it", name));
}

}  // namespace sact::io
