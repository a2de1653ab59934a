// Fuzz target: any text is settings of each kind of training, as JSON or as KEY=VALUE, or an Error;
// what is read is written and read again the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "fuzz/attempt.h"
#include "train/adapt/settings.h"
#include "train/classify/settings.h"
#include "train/detect/settings.h"

namespace {

template <typename Settings>
void read(std::string_view text) {
  sact::test::attempt([&] {
    Settings settings;
    sact::train::set_from_json(settings, text, "fuzz");
    const std::string written = sact::train::to_json(settings);
    Settings again;
    sact::train::set_from_json(again, written, "written");
    SACT_ASSERT(sact::train::to_json(again) == written);
  });
  sact::test::attempt([&] {
    Settings settings;
    sact::train::set_from_text(settings, std::string(text));
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read<sact::train::TrainSettings>(text);
  read<sact::train::DetectionSettings>(text);
  read<sact::train::AdaptSettings>(text);
  return 0;
}
