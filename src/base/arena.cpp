#include "base/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace sact {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kHugePage = size_t{2} << 20;

size_t rounded_up(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

Arena::~Arena() {
  for (const Piece& piece : pieces_) ::munmap(piece.start, piece.bytes);
}

size_t Arena::bytes() const {
  size_t sum = 0;
  for (const Piece& piece : pieces_) sum += piece.bytes;
  return sum;
}

std::byte* Arena::take_bytes(size_t bytes) {
  if (bytes > SIZE_MAX / 2) throw std::bad_alloc();
  bytes = rounded_up(std::max<size_t>(bytes, 1), kLine);
  if (size_t(end_ - free_) < bytes) {
    const size_t usable = rounded_up(std::max(bytes, piece_bytes_), kHugePage);
    const size_t mapped = usable + kHugePage;  // room to begin at a huge page
    void* start = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) throw std::bad_alloc();
    pieces_.push_back({start, mapped});
    free_ = reinterpret_cast<std::byte*>(rounded_up(reinterpret_cast<uintptr_t>(start), kHugePage));
    end_ = free_ + usable;
    // Small pages do as well where this is refused.
    static_cast<void>(::madvise(free_, usable, MADV_HUGEPAGE));
  }
  std::byte* part = free_;
  free_ += bytes;
  return part;
}

}  // namespace sact
