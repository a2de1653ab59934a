#include "engine/cuda/tile_tuning.h"

#include <algorithm>
#include <limits>

namespace sact::engine {
namespace {

/// Milliseconds of a start of a product, in a row of some; the least of some rows.
double time_shape(const cuda::Product& call, cuda::Element type, const Stream& stream,
                  const cuda::Launch& launch) {
  constexpr int kRows = 3, kStarts = 4;
  // All is on the stream before it begins, so that the host takes no part of the time.
  constexpr int64_t kCycles = 20'000;
  double least = std::numeric_limits<double>::infinity();
  cuda::run(call, type, launch);  // loads the kernel
  for (int row = 0; row < kRows; ++row) {
    Event begin, end;
    cuda::run(cuda::Pause{kCycles}, launch);
    begin.record(stream);
    for (int start = 0; start < kStarts; ++start) cuda::run(call, type, launch);
    end.record(stream);
    least = std::min(least, end.milliseconds_since(begin));
  }
  return least;
}

}  // namespace

TunedShapes::Key TunedShapes::key_of(const cuda::Product& call) {
  const int kind = (call.stem ? 1 : 0) | (call.scale ? 2 : 0) | (call.add ? 4 : 0) |
                   (call.mean ? 8 : 0) | (call.mean_begins ? 16 : 0) |
                   (call.score_panels ? 32 : 0) | (call.mean_in_place ? 64 : 0);
  return {call.rows.most, call.kernel, call.stride, call.depth, call.columns, kind};
}

std::optional<int> TunedShapes::known(const Key& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = shapes_.find(key);
  return found == shapes_.end() ? std::nullopt : std::optional(found->second);
}

cuda::Launch TunedShapes::launch_for(const cuda::Product& call, cuda::Launch launch) const {
  const std::optional<int> shape = known(key_of(call));
  if (shape.value_or(-1) < 0) return launch;
  launch.shape = *shape;
  launch.scratch = nullptr;
  return launch;
}

/// Where blocks share the depth of tiles it stays as it is: who shares it decides about the last
/// bits.
void TunedShapes::measure(cuda::Product call, cuda::Element type, const Stream& stream,
                          cuda::Launch launch) {
  const Key key = key_of(call);
  if (known(key)) return;
  call.rows.list = nullptr;
  call.rows.count = nullptr;
  int fastest = -1;
  if (!cuda::shapes_of(call, type, launch).cheapest_shares) {
    launch.scratch = nullptr;
    const uint32_t fitting = cuda::shapes_of(call, type, launch).fitting;
    double least = std::numeric_limits<double>::infinity();
    for (int shape = 0; fitting >> shape; ++shape) {
      if (!(fitting >> shape & 1)) continue;
      launch.shape = shape;
      const double ms = time_shape(call, type, stream, launch);
      if (ms >= least) continue;
      least = ms;
      fastest = shape;
    }
  }
  const std::lock_guard lock(mutex_);
  shapes_.emplace(key, fastest);
}

}  // namespace sact::engine
