// Bytes that all share: who needs some waits until so many are free.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

namespace sact::serve {

class ByteGate {
 public:
  explicit ByteGate(uint64_t bytes) : all_(bytes), free_(bytes) {}

  /// Gives its bytes back when it goes.
  class Held {
   public:
    Held(ByteGate& gate, uint64_t bytes) : gate_(&gate), bytes_(bytes) {}
    Held(Held&& other) noexcept : gate_(other.gate_), bytes_(other.bytes_) { other.bytes_ = 0; }
    ~Held() { gate_->give_back(bytes_); }
    Held& operator=(Held&&) = delete;

   private:
    ByteGate* gate_;
    uint64_t bytes_;
  };

  /// Nothing when they are not free by then. More than there are at all need all of them.
  std::optional<Held> take(uint64_t bytes, std::chrono::steady_clock::time_point deadline) {
    bytes = bytes < all_ ? bytes : all_;
    std::unique_lock lock(mutex_);
    if (!changed_.wait_until(lock, deadline, [&] { return bytes <= free_; })) return {};
    free_ -= bytes;
    return std::optional<Held>(std::in_place, *this, bytes);
  }

 private:
  void give_back(uint64_t bytes) {
    if (bytes == 0) return;
    {
      const std::lock_guard lock(mutex_);
      free_ += bytes;
    }
    changed_.notify_all();
  }

  const uint64_t all_;
  uint64_t free_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace sact::serve
