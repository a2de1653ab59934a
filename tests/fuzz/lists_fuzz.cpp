// Fuzz target: any bytes are a table of boxes, a list of classes, or an Error.
#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "data/boxes_csv.h"
#include "data/class_names.h"
#include "fuzz/attempt.h"
#include "fuzz/memory_file.h"
#include "import/labels.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using sact::test::attempt;
  static sact::test::MemoryFile file;
  file.replace(data, size);
  attempt([] {
    for (const auto& [name, annotation] : sact::data::read_boxes_csv(file.path())) {
      SACT_ASSERT(!annotation.boxes.empty());
      sact::data::normalized(annotation, {48, 64}, name);
    }
  });
  attempt([] { sact::data::read_class_names(file.path(), {"cat", "dog"}); });
  attempt([] { SACT_ASSERT(sact::importing::read_labels(file.path(), 2).size() == 2); });
  return 0;
}
