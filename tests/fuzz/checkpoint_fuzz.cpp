// Fuzz target: any bytes are a checkpoint of a training, as a run that goes on reads it, or an
// Error; what is read of its progress is written and read again the same.
#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "fuzz/attempt.h"
#include "fuzz/memory_file.h"
#include "model/weights.h"
#include "train/classify/settings.h"
#include "train/loop/checkpoint_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sact;
  using test::attempt;
  static test::MemoryFile file;
  file.replace(data, size);
  attempt([] {
    const train::Checkpoint checkpoint(file.path());
    const train::Progression& progression = checkpoint.progression();
    const std::string written = train::to_json(progression);
    const std::string again = train::to_json(train::progression_from_json(written, "written"));
    SACT_ASSERT(again == written);
    SACT_ASSERT(progression.epoch >= 0 && progression.position >= 0 && progression.workers >= 0);
    attempt([&] { checkpoint.command(); });
    attempt([&] {
      train::TrainSettings settings;
      train::set_from_json(settings, checkpoint.settings_json(), checkpoint.name());
    });
    attempt([&] {
      const auto spec = checkpoint.spec();
      if (!spec) return;
      for (const WeightInfo& weight : weight_list(*spec)) {
        checkpoint.values("model/" + weight.name, weight.shape);
      }
    });
  });
  return 0;
}
