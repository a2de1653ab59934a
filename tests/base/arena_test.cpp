// Memory in large pieces: aligned, zeroed, apart, and alive as long as its arena.
#include "base/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <new>

#include "base/random.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace sact {
namespace {

constexpr size_t kLine = 64;

TEST(Arena, PartsAreAlignedZeroedAndApart) {
  Arena arena(1 << 16);
  Random random(1);
  std::vector<std::pair<uint8_t*, int64_t>> parts;
  for (int i = 0; i < 200; ++i) {
    const int64_t count = i % 50 == 49 ? 5 << 20 : random.below(5000);  // some beyond a piece
    auto* part = arena.take<uint8_t>(count);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(part) % kLine, 0u);
    ASSERT_TRUE(std::all_of(part, part + count, [](uint8_t value) { return value == 0; }));
    std::fill_n(part, count, uint8_t(i + 1));
    parts.emplace_back(part, count);
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto [part, count] = parts[i];
    ASSERT_TRUE(std::all_of(part, part + count, [&](uint8_t v) { return v == uint8_t(i + 1); }))
        << "part " << i << " was overwritten";
  }
}

TEST(Arena, TakesPiecesFromTheSystemAndNotParts) {
  Arena arena(8 << 20);
  EXPECT_EQ(arena.bytes(), 0u);
  arena.take<float>(100);
  const size_t one = arena.bytes();
  EXPECT_GE(one, size_t{8} << 20);
  for (int i = 0; i < 1000; ++i) arena.take<float>(1000);
  EXPECT_EQ(arena.bytes(), one);
  arena.take<float>(4 << 20);  // 16 MiB
  EXPECT_GE(arena.bytes(), one + (size_t{16} << 20));
}

TEST(Arena, PartsOfNothingAreStillApart) {
  Arena arena(0);
  EXPECT_NE(arena.take<float>(0), arena.take<float>(0));
}

TEST(Arena, MovingKeepsThePartsAndLeavesAnEmptyArena) {
  Arena arena(1 << 20);
  int* part = arena.take<int>(1000);
  std::fill_n(part, 1000, 7);
  const size_t bytes = arena.bytes();
  Arena moved(std::move(arena));
  EXPECT_EQ(moved.bytes(), bytes);
  EXPECT_EQ(arena.bytes(), 0u);
  EXPECT_EQ(part[999], 7);
  *arena.take<int>(10) = 1;  // it can be used again
  Arena assigned(0);
  assigned = std::move(moved);
  EXPECT_EQ(assigned.bytes(), bytes);
  EXPECT_EQ(part[999], 7);
  int* next = assigned.take<int>(1000);  // goes on in the same piece
  EXPECT_EQ(assigned.bytes(), bytes);
  EXPECT_GE(next, part + 1000);
}

TEST(Arena, MoreThanThereIsThrows) {
  Arena arena(0);
  EXPECT_THROW(arena.take<double>(INT64_MAX / 8), std::bad_alloc);
  EXPECT_THROW(arena.take<uint8_t>(INT64_MAX), std::bad_alloc);
  EXPECT_EQ(arena.bytes(), 0u);
  *arena.take<int>(1) = 1;
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
