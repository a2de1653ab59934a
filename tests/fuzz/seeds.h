// Valid inputs that a fuzz target's mutations start from.
#pragma once

#include <cstdint>
#include <vector>

namespace sact::test {

std::vector<std::vector<uint8_t>> fuzz_seeds();

}  // namespace sact::test
