// A small random generator whose sequence is the same on every machine (the standard library's
// distributions are not), so that a seed names a network, a data set or a test case for good.
#pragma once

#include <cmath>
#include <cstdint>

namespace sact {

/// SplitMix64: every seed gives an independent, well mixed sequence.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  /// A generator for a part of the work: same seed and key, same sequence.
  static Random derived(uint64_t seed, uint64_t key) {
    Random random(seed ^ (key * 0xd1342543de82ef95ull));
    random.bits();
    return Random(random.bits());
  }

  uint64_t bits() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

  /// Uniform in [0, 1).
  double uniform() { return double(bits() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  /// Uniform in 0 ... count - 1.
  int64_t below(int64_t count) { return int64_t(uniform() * double(count)); }

  bool coin(double probability = 0.5) { return uniform() < probability; }

  /// Standard normal (Box-Muller).
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    const double angle = 6.283185307179586 * uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }

 private:
  uint64_t state_;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace sact
