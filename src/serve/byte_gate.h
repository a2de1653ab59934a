// Bytes that all share: who needs some waits in a line until so many are free.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
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
    /// No more than so many are needed from now on.
    void shrink(uint64_t bytes) {
      if (bytes >= bytes_) return;
      gate_->give_back(bytes_ - bytes);
      bytes_ = bytes;
    }

   private:
    ByteGate* gate_;
    uint64_t bytes_;
  };

  /// Who came first gets its bytes first, so that large ones come in as well. More than there are
  /// at all need all of them. Nothing when `over`, which is asked again and again, says that nobody
  /// needs them any more.
  std::optional<Held> take(uint64_t bytes, const std::function<bool()>& over) {
    bytes = bytes < all_ ? bytes : all_;
    std::unique_lock lock(mutex_);
    const auto place = waiting_.insert(waiting_.end(), bytes);
    const auto mine = [&] { return place == waiting_.begin() && bytes <= free_; };
    while (!mine() && !over()) changed_.wait_for(lock, std::chrono::milliseconds(20));
    const bool taken = mine();
    waiting_.erase(place);
    if (taken) free_ -= bytes;
    changed_.notify_all();  // the next one is the first now
    if (!taken) return {};
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
  std::list<uint64_t> waiting_;
};

}  // namespace sact::serve
