#include "base/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace sact {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kHugePage = size_t{2} << 20;

// The address sanitizer knows nothing of parts: it is told what none covers, and so that there is
// something between two of them, they lie apart.
#ifdef __SANITIZE_ADDRESS__
constexpr size_t kGap = kLine;
void forbid(const void* start, size_t bytes) {
  __asan_poison_memory_region(start, bytes);
}
void allow(const void* start, size_t bytes) {
  __asan_unpoison_memory_region(start, bytes);
}
#else
constexpr size_t kGap = 0;
void forbid(const void*, size_t) {}
void allow(const void*, size_t) {}
#endif

size_t rounded_up(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

Arena::~Arena() {
  for (const Piece& piece : pieces_) {
    allow(piece.start, piece.bytes);
    ::munmap(piece.start, piece.bytes);
  }
}

size_t Arena::bytes() const {
  size_t sum = 0;
  for (const Piece& piece : pieces_) sum += piece.bytes;
  return sum;
}

std::byte* Arena::take_bytes(size_t bytes) {
  if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
  const size_t covered = rounded_up(std::max<size_t>(bytes, 1), kLine) + kGap;
  if (size_t(end_ - free_) < covered) {
    const size_t usable = rounded_up(std::max(covered, piece_bytes_), kHugePage);
    const size_t mapped = usable + kHugePage;  // room to begin at a huge page
    void* start = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) throw std::bad_alloc();
    pieces_.push_back({start, mapped});
    free_ = reinterpret_cast<std::byte*>(rounded_up(reinterpret_cast<uintptr_t>(start), kHugePage));
    end_ = free_ + usable;
    // Small pages do as well where this is refused.
    static_cast<void>(::madvise(free_, usable, MADV_HUGEPAGE));
    forbid(free_, usable);
  }
  std::byte* part = free_;
  free_ += covered;
  allow(part, bytes);
  return part;
}

}  // namespace sact
