// What must hold of a MATLAB file before matio reads it, because matio does not look: it takes what
// is missing for zeros, passes over damage in compressed data, and takes any other file for one of
// MATLAB 4.
#pragma once

#include <filesystem>

namespace sact::io {

/// Throws sact::Error unless the header is that of a MATLAB 5 or 7.3 file. The elements of a MATLAB
/// 5 file must fill it, and compressed ones, which end with a checksum, must be whole. What is
/// inside of a 7.3 file is left to HDF5.
void check_mat(const std::filesystem::path& path);

}  // namespace sact::io
