// Which kernels run a network.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "kernels/cpu/kernels.h"

namespace sact::engine {

/// The instruction set that was asked for, otherwise that of the environment variable SACT_ISA,
/// otherwise the fastest.
const kernels::Table& kernel_table(const std::string& asked = {});

struct KernelChoice {
  const kernels::Table* table = nullptr;
  kernels::DataType type = kernels::DataType::kFloat32;  // of the operands
  std::string why;
};

/// What runs products of this type fastest. An instruction set that was asked for is taken as it
/// is. Otherwise instructions for a type are used only where they beat float32 on this processor,
/// which is measured once, in a millisecond; where none do, float32 runs instead of the type.
KernelChoice kernel_choice(kernels::DataType type, const std::string& asked = {});

/// Operations a second of products of a type on a table.
using ProductRate = std::function<double(const kernels::Table&, kernels::DataType)>;

/// The same by given rates among given tables, the fastest last.
KernelChoice fastest_choice(kernels::DataType type, std::span<const kernels::Table* const> tables,
                            const ProductRate& rate);

}  // namespace sact::engine
