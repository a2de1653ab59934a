#include "io/mat_matio.h"

#include <matio.h>

#include <memory>
#include <optional>

#include "io/mat_check.h"
#include "io/mat_damage.h"

namespace sact::io {
namespace {

constexpr size_t kMaxNumbers = 100'000'000;

struct CloseFile {
  void operator()(mat_t* file) const { Mat_Close(file); }
};
using File = std::unique_ptr<mat_t, CloseFile>;

struct FreeVariable {
  void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using Variable = std::unique_ptr<matvar_t, FreeVariable>;

/// matio would print what it finds wrong; here it becomes one line of ours.
void silence_matio() {
  Mat_LogInitFunc("sact", [](int, char*) {});
}

std::string names_in(mat_t* file) {
  size_t count = 0;
  char* const* names = Mat_GetDir(file, &count);
  std::string text;
  for (size_t i = 0; names && i < count; ++i) {
    if (names[i]) text += fmt::format("{}'{}'", text.empty() ? "" : ", ", printable(names[i]));
  }
  return text;
}

std::string_view kind_of(const matvar_t& variable) {
  if (variable.isComplex) return "a complex array";
  switch (variable.class_type) {
    case MAT_C_CELL:
      return "a cell array";
    case MAT_C_STRUCT:
      return "a structure";
    case MAT_C_CHAR:
      return "text";
    case MAT_C_SPARSE:
      return "a sparse matrix";
    default:
      return variable.class_type >= MAT_C_DOUBLE && variable.class_type <= MAT_C_UINT64
                 ? std::string_view()
                 : "an object";
  }
}

/// What can be known before the numbers are read.
void check_matrix(const matvar_t& variable, const std::string& name) {
  if (const std::string_view kind = kind_of(variable); !kind.empty()) {
    fail("{} is {}; a matrix of numbers is needed here", name, kind);
  }
  if (variable.rank != 2) {
    fail("{} has {} dimensions; a matrix is needed here", name, variable.rank);
  }
  const size_t rows = variable.dims[0], columns = variable.dims[1];
  if (rows == 0 || columns == 0) fail("{} is empty ({} x {})", name, rows, columns);
  if (columns > kMaxNumbers / rows) {
    fail("{} has {} x {} numbers, more than the {} that are read here", name, rows, columns,
         kMaxNumbers);
  }
}

/// MATLAB stores columns one after another.
template <typename T>
Map rows_of(const matvar_t& variable) {
  Map map(int(variable.dims[0]), int(variable.dims[1]));
  const T* source = static_cast<const T*>(variable.data);
  for (int x = 0; x < map.width; ++x) {
    for (int y = 0; y < map.height; ++y) map.at(y, x) = float(*source++);
  }
  return map;
}

std::optional<Map> map_of(const matvar_t& variable) {
  switch (variable.class_type) {
    case MAT_C_DOUBLE:
      return rows_of<double>(variable);
    case MAT_C_SINGLE:
      return rows_of<float>(variable);
    case MAT_C_INT8:
      return rows_of<int8_t>(variable);
    case MAT_C_UINT8:
      return rows_of<uint8_t>(variable);
    case MAT_C_INT16:
      return rows_of<int16_t>(variable);
    case MAT_C_UINT16:
      return rows_of<uint16_t>(variable);
    case MAT_C_INT32:
      return rows_of<int32_t>(variable);
    case MAT_C_UINT32:
      return rows_of<uint32_t>(variable);
    case MAT_C_INT64:
      return rows_of<int64_t>(variable);
    case MAT_C_UINT64:
      return rows_of<uint64_t>(variable);
    default:
      return std::nullopt;
  }
}

}  // namespace

Map read_mat_by_matio(const std::filesystem::path& path, const std::string& variable) {
  check_mat(path);
  silence_matio();
  const File file(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
  if (!file) fail_for_mat_damage(path);
  const Variable found(Mat_VarReadInfo(file.get(), variable.c_str()));
  if (!found) {
    const std::string names = names_in(file.get());
    if (names.empty()) fail_for_mat_damage(path);
    fail("{}: has no variable '{}'; it has {}", path.string(), variable, names);
  }
  check_matrix(*found, fmt::format("{}: variable '{}'", path.string(), variable));
  if (Mat_VarReadDataAll(file.get(), found.get()) != 0 || !found->data) fail_for_mat_damage(path);
  const size_t bytes = found->dims[0] * found->dims[1] * Mat_SizeOfClass(found->class_type);
  if (found->nbytes < bytes) fail_for_mat_damage(path);
  std::optional<Map> map = map_of(*found);
  if (!map) fail_for_mat_damage(path);
  return std::move(*map);
}

}  // namespace sact::io
