// Nothing is allocated while a network runs. What run() hands out is: logits, and maps of every
// block; and FLOPs are worked out from these maps by set_flops(), which lists the layers. So the
// calls of operator new in a run on images of a size that the session has seen are counted, on all
// threads; those that set_flops() makes for the same results are taken off; and what is left
// must be the same however many units the blocks have.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "engine/plans.h"

namespace {
std::atomic<int64_t> allocations{0};
}

void* operator new(size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(size_t bytes, std::align_val_t alignment) {
  ++allocations;
  const size_t unit = size_t(alignment);
  if (void* memory = std::aligned_alloc(unit, (bytes + unit) / unit * unit)) return memory;
  throw std::bad_alloc();
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes ? bytes : 1);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace sact::engine {
namespace {

/// Calls of operator new in the second run and in the third, without those for FLOPs.
std::pair<int64_t, int64_t> counted_runs(const ModelSpec& spec, kernels::DataType type) {
  const Size size{64, 80};
  const std::vector<float> planes = sact::test::random_planes(2, size, 1);
  CpuSession session(test::random_plan(spec, 2, type), 2);
  session.run(planes, 2, size);
  const auto count = [&] {
    const int64_t before = allocations;
    std::vector<ImageResult> results = session.run(planes, 2, size);
    const int64_t between = allocations;
    set_flops(spec, size, results);
    return (between - before) - (allocations - between);
  };
  const int64_t second = count();
  return {second, count()};
}

TEST(Allocation, TheCountDoesNotGrowWithTheNumberOfLayers) {
  for (const Halting halting : {Halting::kNone, Halting::kAct, Halting::kSact}) {
    for (const UnitKind unit : {UnitKind::kBottleneck, UnitKind::kBasic}) {
      for (const auto type : {kernels::DataType::kFloat32, kernels::DataType::kBFloat16}) {
        SCOPED_TRACE(testing::Message() << name_of(halting) << ", " << name_of(unit) << ", "
                                        << kernels::name_of(type));
        ModelSpec few = sact::test::tiny_spec(halting, {2, 2});
        few.unit = unit;
        ModelSpec many = few;
        many.units = {8, 8};
        const auto [second, third] = counted_runs(few, type);
        EXPECT_GT(second, 0) << "allocations are not counted";
        EXPECT_EQ(second, third);
        EXPECT_EQ(counted_runs(many, type), std::make_pair(second, third));
      }
    }
  }
}

}  // namespace
}  // namespace sact::engine
