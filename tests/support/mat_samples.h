// Writing small MATLAB files.
#pragma once

#include <gtest/gtest.h>
#include <matio.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include "sact/types.h"

namespace sact::test {

struct MatKind {
  mat_ft version = MAT_FT_MAT5;
  matio_compression compression = MAT_COMPRESSION_ZLIB;
};

/// Opens a new file, calls `fill(file)` to write variables, and closes it.
template <typename Fill>
void write_mat_file(const std::filesystem::path& path, mat_ft version, Fill&& fill) {
  mat_t* file = Mat_CreateVer(path.c_str(), nullptr, version);
  ASSERT_NE(file, nullptr) << path;
  fill(file);
  Mat_Close(file);
}

/// One array of numbers; columns one after another, as MATLAB has them.
template <typename T>
void write_variable(mat_t* file, const std::string& name, std::vector<size_t> dims,
                    std::vector<T> columns, matio_compression compression) {
  constexpr bool kDouble = std::is_same_v<T, double>, kByte = std::is_same_v<T, uint8_t>;
  static_assert(kDouble || kByte || std::is_same_v<T, float> || std::is_same_v<T, int16_t>);
  constexpr matio_classes kClass = kDouble                      ? MAT_C_DOUBLE
                                   : kByte                      ? MAT_C_UINT8
                                   : std::is_same_v<T, int16_t> ? MAT_C_INT16
                                                                : MAT_C_SINGLE;
  constexpr matio_types kType = kDouble                      ? MAT_T_DOUBLE
                                : kByte                      ? MAT_T_UINT8
                                : std::is_same_v<T, int16_t> ? MAT_T_INT16
                                                             : MAT_T_SINGLE;
  matvar_t* variable =
      Mat_VarCreate(name.c_str(), kClass, kType, int(dims.size()), dims.data(), columns.data(), 0);
  ASSERT_NE(variable, nullptr);
  EXPECT_EQ(Mat_VarWrite(file, variable, compression), 0);
  Mat_VarFree(variable);
}

template <typename T>
void write_mat(const std::filesystem::path& path, const std::string& name, const Map& map,
               const MatKind& kind = {}) {
  std::vector<T> columns;
  for (int x = 0; x < map.width; ++x) {
    for (int y = 0; y < map.height; ++y) columns.push_back(T(map.at(y, x)));
  }
  write_mat_file(path, kind.version, [&](mat_t* file) {
    write_variable<T>(file, name, {size_t(map.height), size_t(map.width)}, columns,
                      kind.compression);
  });
}

}  // namespace sact::test
