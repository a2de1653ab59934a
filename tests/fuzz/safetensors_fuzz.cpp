// Fuzz target: the bytes of a model file, from the container to the spec.
#include <cstddef>
#include <cstdint>
#include <span>

#include "io/safetensors.h"
#include "model/spec.h"
#include "model/spec_from_weights.h"
#include "model/weights.h"
#include "sact/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto content = sact::io::parse_safetensors(std::as_bytes(std::span(data, size)), "fuzz");
    const auto stored = content.metadata.find("sact");
    const sact::ModelSpec spec = stored != content.metadata.end()
                                     ? sact::spec_from_json(stored->second, "fuzz")
                                     : sact::spec_from_weights(content.tensors, "fuzz");
    sact::to_json(spec);
    for (const auto& [name, view] : content.tensors) sact::io::float_values(view, name);
  } catch (const sact::Error&) {
  }
  return 0;
}
