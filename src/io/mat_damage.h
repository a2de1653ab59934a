// What the program that reads MATLAB files and the one that asked it agree on.
#pragma once

#include <filesystem>

#include "base/error.h"

namespace sact::io {

/// How the reader ends when it has printed why the file cannot be read, and when reading took more
/// time than a file of that size needs.
inline constexpr int kReaderSaidWhy = 3, kReaderTookTooLong = 4;

[[noreturn]] inline void fail_for_mat_damage(const std::filesystem::path& path) {
  fail("{}: ends too early or is damaged; get the file again", path.string());
}

}  // namespace sact::io
