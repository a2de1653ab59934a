#include "backend/backend.h"

#include "base/error.h"
#include "model/detection.h"

namespace sact {

NetworkSource image_network_of(const ModelFile& file) {
  return {image_network(file.spec()), [&file](const WeightInfo& info) { return file.values(info); },
          file.input_scales(), file.name()};
}

NetworkSource detector_of(const ModelFile& file) {
  expect_detector(file);
  return {
      file.spec(), [&file](const WeightInfo& info) { return file.values(info); }, {}, file.name()};
}

std::shared_ptr<const LoadedDetector> Backend::load_detector(const NetworkSource&,
                                                             const LoadOptions&) const {
  fail("the back end '{}' does not run detectors", name());
}

}  // namespace sact
