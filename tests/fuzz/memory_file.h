// Inputs of a fuzz target as a file, for what opens files by name.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"

namespace sact::test {

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

}  // namespace sact::test
