// Reading a matrix by matio, once the file has been checked.
#pragma once

#include <filesystem>
#include <string>

#include "sact/types.h"

namespace sact::io {

/// As read_mat(), in this process, for a file that checked_mat_version() has seen.
Map read_mat_by_matio(const std::filesystem::path& path, const std::string& variable);

}  // namespace sact::io
