#include "kernels/cpu/operand_types.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "base/error.h"
#include "base/precision.h"

namespace sact::kernels {
namespace {

template <typename Type>
void store(const float* from, int64_t count, void* to) {
  std::transform(from, from + count, static_cast<typename Type::Element*>(to), Type::element);
}

template <typename Type>
constexpr Storage storage_of() {
  return {int(sizeof(typename Type::Element)), store<Type>};
}

/// A type whose rows and weights are stored alike.
template <typename Type>
constexpr OperandType plain_type() {
  return {Type::kType,        precision_name(Type::kType), storage_of<Type>(),
          storage_of<Type>(), Type::kDepthGroup,           0,
          Type::kLargestTile};
}

void store_weights(const float* from, int64_t count, void* to) {
  std::transform(from, from + count, static_cast<Int8::Weight*>(to), Int8::weight);
}

constexpr OperandType int8_type() {
  OperandType type = plain_type<Int8>();
  type.weights = {int(sizeof(Int8::Weight)), store_weights};
  type.largest_weight = Int8::kLargestWeight;
  return type;
}

constexpr OperandType kTypes[] = {plain_type<Float32>(), plain_type<BFloat16>(), int8_type()};

constexpr bool in_order() {
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    if (size_t(kTypes[i].type) != i) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

std::span<const OperandType> operand_types() {
  return kTypes;
}

const OperandType& operand_type(DataType type) {
  SACT_ASSERT(size_t(type) < std::size(kTypes));
  return kTypes[size_t(type)];
}

bool OperandType::takes_float_rows() const {
  return rows.store == operand_type(DataType::kFloat32).rows.store;
}

}  // namespace sact::kernels
