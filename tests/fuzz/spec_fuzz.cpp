// Fuzz target: any text is the spec of a network or a dial, or an Error; what is read is written
// and read again the same, and its layers can be listed.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "fuzz/attempt.h"
#include "model/dial.h"
#include "model/spec.h"
#include "model/weights.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using sact::test::attempt;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  attempt([&] {
    const sact::ModelSpec spec = sact::spec_from_json(text, "fuzz");
    const std::string written = sact::to_json(spec);
    SACT_ASSERT(sact::to_json(sact::spec_from_json(written, "written")) == written);
    int64_t units = 0;
    for (const int count : spec.units) units += count;
    if (units < 1000) sact::weight_list(spec);
  });
  attempt([&] {
    const sact::Dial dial = sact::dial_from_json(text, "fuzz");
    dial.shift_for((dial.least_share() + dial.largest_share()) / 2);
    const std::string written = sact::io::dump_json(sact::to_json(dial));
    sact::dial_from_json(written, "written");
  });
  return 0;
}
