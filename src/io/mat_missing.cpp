// What stands for mat.cpp in a build without matio (SACT_MAT=OFF).
#include "base/error.h"
#include "io/mat.h"

namespace sact::io {

Map read_mat(const std::filesystem::path& path, const std::string&) {
  fail("{}: this build reads no MATLAB files (configured with SACT_MAT=OFF)", path.string());
}

}  // namespace sact::io
