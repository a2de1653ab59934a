// Fuzz target: any bytes are annotations of COCO or Pascal VOC, or an Error, and nothing else; what
// is read can be evaluated.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "data/voc_xml.h"
#include "detect/coco_eval.h"
#include "fuzz/attempt.h"

namespace {

/// The objects as if they were detections of themselves.
void evaluate(const sact::detect::CocoInstances& instances) {
  sact::detect::CocoResults results{.name = "fuzz"};
  for (const sact::detect::CocoObject& object : instances.objects) {
    results.entries.push_back({object.image_id, object.category_id, object.box, object.area});
  }
  for (const double metric : sact::detect::evaluate_coco(instances, results, 1).metrics) {
    SACT_ASSERT(metric == -1 || (metric >= 0 && metric <= 1));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using sact::test::attempt;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  attempt([&] { evaluate(sact::detect::parse_coco_instances(text, "fuzz")); });
  attempt([&] { sact::detect::parse_coco_results(text, "fuzz"); });
  attempt([&] { sact::data::parse_voc_objects(text, "fuzz"); });
  return 0;
}
