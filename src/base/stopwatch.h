// Times of stages that follow each other.
#pragma once

#include <chrono>

namespace sact {

class Stopwatch {
 public:
  /// Milliseconds since the last call, or since construction.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double, std::milli> taken = now - start_;
    start_ = now;
    return taken.count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace sact
