// Fuzz target: any bytes are an image or an Error, and nothing else.
#include <cstddef>
#include <cstdint>
#include <span>

#include "io/image.h"
#include "sact/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sact::io::ReadOptions options;
  options.max_pixels = 1 << 20;
  options.min_side = size % 2 == 0 ? 0 : 16;
  try {
    sact::io::decode_image(std::as_bytes(std::span(data, size)), "fuzz", options);
  } catch (const sact::Error&) {
    // The right answer to nearly every input.
  }
  return 0;
}
