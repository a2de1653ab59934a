// Fuzz target: any bytes are a whole MATLAB file, as far as that is looked at before matio sees it,
// or an Error.
#include <cstddef>
#include <cstdint>

#include "fuzz/attempt.h"
#include "fuzz/memory_file.h"
#include "io/mat_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static sact::test::MemoryFile file;
  file.replace(data, size);
  sact::test::attempt([] { sact::io::check_mat(file.path()); });
  return 0;
}
