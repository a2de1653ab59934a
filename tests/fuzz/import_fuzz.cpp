// Fuzz target: any bytes are a network of another library, in whichever format, or an Error.
#include <cstddef>
#include <cstdint>

#include "fuzz/attempt.h"
#include "fuzz/memory_file.h"
#include "import/import.h"
#include "import/source.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static sact::test::MemoryFile file;
  file.replace(data, size);
  sact::test::attempt([] { sact::importing::import_network(file.path(), {}); });
  sact::test::attempt([] { sact::importing::open_tfjs(file.path()); });
  return 0;
}
