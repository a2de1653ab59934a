// For targets whose valid inputs are the files of their corpus alone.
#include "fuzz/seeds.h"

namespace sact::test {

std::vector<std::vector<std::byte>> fuzz_seeds() {
  return {};
}

}  // namespace sact::test
