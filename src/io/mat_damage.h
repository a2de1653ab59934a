// What is said of a damaged MATLAB file, by the program that reads it or by the one that asked.
#pragma once

#include <filesystem>

#include "base/error.h"

namespace sact::io {

[[noreturn]] inline void fail_for_mat_damage(const std::filesystem::path& path) {
  fail("{}: ends too early or is damaged; get the file again", path.string());
}

}  // namespace sact::io
