// Fuzz target: the bytes of a model file, from the container to the values of the weights.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"
#include "io/safetensors.h"
#include "model/model_file.h"

namespace {

/// A file in memory, written anew for every input. Disks would be the slowest part of the run.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) { SACT_ASSERT(descriptor_ >= 0); }
  void replace(const uint8_t* data, size_t size) {
    SACT_ASSERT(::ftruncate(descriptor_, 0) == 0);
    SACT_ASSERT(::pwrite(descriptor_, data, size, 0) == ssize_t(size));
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

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
  static MemoryFile file;
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
