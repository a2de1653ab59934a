// Memory in one piece, on huge pages where the system has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sact {

/// Hands out parts of large zeroed pieces of memory, and gives all of it back at its end. Weights
/// and activations live in arenas: with pages of 2 MiB instead of 4 KiB their rows cost few misses
/// of the address cache, and nothing is allocated while a network runs.
class Arena {
 public:
  /// `piece_bytes` is what is taken from the system at a time; a larger part gets its own piece.
  explicit Arena(size_t piece_bytes) : piece_bytes_(piece_bytes) {}
  ~Arena();
  Arena(Arena&& other) noexcept
      : piece_bytes_(other.piece_bytes_),
        pieces_(std::exchange(other.pieces_, {})),
        free_(std::exchange(other.free_, nullptr)),
        end_(std::exchange(other.end_, nullptr)) {}
  Arena& operator=(Arena&& other) noexcept {
    std::swap(piece_bytes_, other.piece_bytes_);
    std::swap(pieces_, other.pieces_);
    std::swap(free_, other.free_);
    std::swap(end_, other.end_);
    return *this;
  }

  /// `count` zeros, beginning at a cache line. Throws std::bad_alloc.
  template <typename T>
  T* take(int64_t count) {
    return reinterpret_cast<T*>(take_bytes(size_t(count) * sizeof(T)));
  }

  /// All that was taken from the system.
  size_t bytes() const;

 private:
  std::byte* take_bytes(size_t bytes);

  struct Piece {
    void* start = nullptr;
    size_t bytes = 0;
  };
  size_t piece_bytes_;
  std::vector<Piece> pieces_;
  std::byte *free_ = nullptr, *end_ = nullptr;
};

}  // namespace sact
