// The names of the types of operands, as options, JSON and messages have them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sact/types.h"

namespace sact {

struct NamedPrecision {
  Precision precision;
  const char* name;
};
inline constexpr std::array<NamedPrecision, 4> kPrecisions = {{{Precision::kFloat32, "fp32"},
                                                               {Precision::kBFloat16, "bf16"},
                                                               {Precision::kFloat16, "fp16"},
                                                               {Precision::kInt8, "int8"}}};

constexpr const char* precision_name(Precision precision) {
  for (const NamedPrecision& known : kPrecisions) {
    if (known.precision == precision) return known.name;
  }
  return nullptr;  // the table has them all
}

/// sact::Error lists the names when there is no such type.
Precision precision_from_name(const std::string& name);

/// All of them.
std::vector<std::string> precision_names();

}  // namespace sact
