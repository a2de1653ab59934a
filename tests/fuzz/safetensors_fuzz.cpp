// Fuzz target: the bytes of a model file, from the container to the values of the weights.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"
#include "fuzz/memory_file.h"
#include "io/safetensors.h"
#include "model/model_file.h"

namespace {

/// The bytes where they are, so that the address sanitizer sees a read beyond their end.
void read_all_tensors(std::span<const std::byte> bytes) {
  const auto content = sact::io::parse_safetensors(bytes, "fuzz");
  for (const auto& [name, view] : content.tensors) sact::io::float_values(view, name);
}

/// As every command opens a model: spec, names, shapes, types and values of all weights.
void read_model(const std::string& path) {
  const sact::ModelFile model(path);
  model.dtype();
  sact::to_json(model.spec());
  for (const sact::WeightInfo& weight : sact::weight_list(model.spec())) model.values(weight);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static sact::test::MemoryFile file;
  try {
    read_all_tensors(std::as_bytes(std::span(data, size)));
  } catch (const sact::Error&) {
    // The right answer to nearly every input.
  }
  file.replace(data, size);
  try {
    read_model(file.path());
  } catch (const sact::Error&) {
  }
  return 0;
}
