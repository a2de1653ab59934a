// Reading a matrix by matio.
#pragma once

#include <filesystem>
#include <string>

#include "sact/types.h"

namespace sact::io {

/// As read_mat(), in this process, which a damaged file may crash.
Map read_mat_by_matio(const std::filesystem::path& path, const std::string& variable);

}  // namespace sact::io
