// Which shape of tiles is the fastest for a product on this GPU: measured once, and kept for all
// sessions of a plan.
#pragma once

#include <compare>
#include <map>
#include <mutex>
#include <optional>

#include "engine/cuda/device.h"
#include "kernels/cuda/inference/kernels.h"

namespace sact::engine {

/// Shapes that were measured. Any number of threads may use the same one.
class TunedShapes {
 public:
  /// `launch` as this product shall be started: with the shape that was measured, or as it was.
  cuda::Launch launch_for(const cuda::Product& call, cuda::Launch launch) const;

  /// Measures the shapes of a product that was not measured before, on all of its rows. What it
  /// writes has no meaning afterwards.
  void measure(cuda::Product call, cuda::Element type, const Stream& stream, cuda::Launch launch);

 private:
  /// What of a product decides how long it takes.
  struct Key {
    int rows, kernel, stride, depth, columns, kind;

    auto operator<=>(const Key&) const = default;
  };
  static Key key_of(const cuda::Product& call);
  std::optional<int> known(const Key& key) const;

  mutable std::mutex mutex_;
  std::map<Key, int> shapes_;  // below 0: what the cost model chooses
};

}  // namespace sact::engine
