#include "base/precision.h"

#include <fmt/ranges.h>

#include "base/error.h"

namespace sact {

Precision precision_from_name(const std::string& name) {
  for (const NamedPrecision& known : kPrecisions) {
    if (known.name == name) return known.precision;
  }
  fail("there is no type of operands '{}'; known: {}", printable(name),
       fmt::join(precision_names(), ", "));
}

std::vector<std::string> precision_names() {
  std::vector<std::string> names;
  for (const NamedPrecision& known : kPrecisions) names.emplace_back(known.name);
  return names;
}

}  // namespace sact
