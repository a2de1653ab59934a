// How much memory this process may still take.
#pragma once

#include <cstdint>

namespace sact::data {

/// Bytes that are free or can be freed at once, within the limit of a container. A huge number
/// where the system does not tell.
uint64_t available_memory();

}  // namespace sact::data
