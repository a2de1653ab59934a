#include "base/arena.h"

#include <gtest/gtest.h>

#include <algorithm>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace sact {
namespace {

TEST(Arena, PartsAreZeroedApartAndBeginAtALine) {
  Arena arena(1 << 20);
  std::vector<std::pair<float*, int64_t>> parts;
  for (int64_t count : {1, 16, 17, 0, 1000, 400000, 3}) {  // one is larger than a piece
    float* part = arena.take<float>(count);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(part) % 64, 0u);
    EXPECT_TRUE(std::all_of(part, part + count, [](float value) { return value == 0; }));
    std::fill_n(part, count, float(parts.size() + 1));
    parts.emplace_back(part, count);
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto [part, count] = parts[i];
    EXPECT_TRUE(std::all_of(part, part + count, [&](float value) { return value == float(i + 1); }))
        << "part " << i;
  }
  EXPECT_GE(arena.bytes(), size_t{401037} * 4);
}

TEST(Arena, MovingKeepsParts) {
  Arena arena(4096);
  int* part = arena.take<int>(10);
  part[9] = 7;
  Arena other = std::move(arena);
  EXPECT_EQ(arena.bytes(), 0u);
  Arena last(0);
  last = std::move(other);
  EXPECT_EQ(part[9], 7);
  EXPECT_GT(last.bytes(), 0u);
}

#ifdef __SANITIZE_ADDRESS__
TEST(Arena, TheAddressSanitizerSeesTheEndsOfParts) {
  Arena arena(1 << 20);
  for (int64_t bytes : {1, 8, 63, 64, 65, 1000}) {
    const char* part = arena.take<char>(bytes);
    EXPECT_FALSE(__asan_address_is_poisoned(part + bytes - 1)) << bytes;
    EXPECT_TRUE(__asan_address_is_poisoned(part + bytes)) << bytes;
  }
}
#endif

}  // namespace
}  // namespace sact
