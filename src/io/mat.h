// Matrices of MATLAB files. They are read by a program of their own, sact_mat_reader, because
// matio and HDF5 crash on some damaged files, never end on others, and take memory without bound.
#pragma once

#include <filesystem>
#include <string>

#include "sact/types.h"

namespace sact::io {

/// The program that reads them; empty where it was not built or installed with this one.
std::filesystem::path mat_reader();

/// Reads the real two-dimensional variable of that name, whatever its number type, from a MATLAB 5
/// or 7.3 file. Throws sact::Error for another kind of file or variable, for a damaged file as far
/// as its format lets one see that (compressed numbers have a checksum), and for a matrix of more
/// than 100 million numbers, before memory is taken for it. Any number of threads may read at the
/// same time.
Map read_mat(const std::filesystem::path& path, const std::string& variable);

}  // namespace sact::io
