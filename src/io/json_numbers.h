// Whole numbers out of JSON.
#pragma once

#include <optional>

#include "io/json.h"

namespace sact::io {

/// The number, where it is whole and an int can hold it: an absurd one is nothing, and not wrapped
/// into a plausible one.
std::optional<int> int_of(const Json& json);

}  // namespace sact::io
