// How much memory this process may still take.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "sact/error.h"

namespace sact {

/// Thrown where there is not enough memory for what was asked: with less of it in use, the same may
/// go well.
class __attribute__((visibility("default"))) NoMemory : public Error {
 public:
  using Error::Error;
};

/// Bytes that are free or can be freed at once, within the limits of its control groups (a
/// container, a job of a cluster) and of the process (ulimit). A huge number where the system does
/// not tell.
uint64_t available_memory();

/// The same from files like those of /proc and /sys/fs/cgroup below another root.
uint64_t available_memory_below(const std::filesystem::path& root);

/// Throws NoMemory, naming `what` needs them, when so many bytes are not there. Sizes come from
/// users: this is asked before memory is taken, which the system would promise and not have.
/// `held` is what the caller gives back before.
void expect_memory(uint64_t bytes, std::string_view what, uint64_t held = 0);

/// From now on large blocks of memory that are freed stay with the program. A training step, or the
/// next picture of many, asks for the same ones again, and the system would clear every page of
/// them again.
void keep_freed_memory();

}  // namespace sact
