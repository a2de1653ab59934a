// Fuzz target: any bytes are what torch.save() writes, or an Error, and nothing else.
#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz/memory_file.h"
#include "import/pickle.h"
#include "import/source.h"
#include "import/zip_records.h"
#include "sact/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static sact::test::MemoryFile file;
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    for (const auto& [name, record] : sact::importing::zip_records(bytes, "fuzz")) {
      sact::importing::Pickle(record, "fuzz");
    }
  } catch (const sact::Error&) {
    // The right answer to nearly every input.
  }
  try {
    sact::importing::Pickle(bytes, "fuzz");
  } catch (const sact::Error&) {
  }
  file.replace(data, size);
  try {
    sact::importing::open_torch_file(file.path());
  } catch (const sact::Error&) {
  }
  return 0;
}
