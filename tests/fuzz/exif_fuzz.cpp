// Fuzz target: any bytes have an orientation, and nothing beyond their end is looked at.
#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "io/exif.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int orientation = sact::io::exif_orientation({data, size});
  SACT_ASSERT(orientation >= 1 && orientation <= 8);
  const sact::io::RgbImage shown = sact::io::apply_orientation({3, 2}, orientation);
  SACT_ASSERT(shown.width * shown.height == 6);
  return 0;
}
