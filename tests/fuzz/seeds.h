// Valid inputs that a fuzz target's mutations start from.
#pragma once

#include <cstddef>
#include <vector>

namespace sact::test {

std::vector<std::vector<std::byte>> fuzz_seeds();

}  // namespace sact::test
