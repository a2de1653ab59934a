// What must hold of a MATLAB file before matio reads it, because matio does not look: it takes what
// is missing for zeros, passes over damage in compressed data, and takes any other file for one of
// MATLAB 4.
#pragma once

#include <filesystem>

namespace sact::io {

enum class MatVersion { kMat5, kMat73 };

/// The version from the header. The elements of a MATLAB 5 file must fill it, and compressed ones,
/// which end with a checksum, must be whole; throws sact::Error otherwise. What is inside of a 7.3
/// file is left to HDF5.
MatVersion checked_mat_version(const std::filesystem::path& path);

[[noreturn]] void fail_for_mat_damage(const std::filesystem::path& path);

}  // namespace sact::io
