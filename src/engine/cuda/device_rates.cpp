#include "engine/cuda/device_rates.h"

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "engine/cuda/panels.h"

namespace sact::engine {
namespace {

constexpr int kRuns = 5;
constexpr double kLongEnough = 1;  // milliseconds

/// The rate of the fastest run. work(size) tells how much it has put on the stream; sizes go from
/// `least` to `most`, until one takes long enough.
template <typename Work>
double best_rate(const Stream& stream, int64_t least, int64_t most, const Work& work) {
  double amount = 0;
  const auto milliseconds = [&](int64_t size) {
    Event begin, end;
    begin.record(stream);
    amount = work(size);
    end.record(stream);
    return end.milliseconds_since(begin);
  };
  int64_t size = least;
  while (milliseconds(size) < kLongEnough && size <= most / 2) size *= 2;
  double least_time = milliseconds(size);
  for (int run = 1; run < kRuns; ++run) least_time = std::min(least_time, milliseconds(size));
  return amount / (least_time * 1e-3);
}

/// Far more than caches hold, where there is so much.
int64_t most_copied_bytes() {
  size_t free = 0, total = 0;
  expect(cudaMemGetInfo(&free, &total), "the GPU's memory");
  return std::min(int64_t(free / 8), int64_t{1} << 30);
}

}  // namespace

DeviceRates measure_rates(const Stream& stream, const cuda::Launch& launch) {
  DeviceRates rates;
  const int64_t most = most_copied_bytes();
  {
    const DeviceMemory from(size_t(most), "measuring"), to(size_t(most), "measuring");
    expect(cudaMemsetAsync(from.data(), 1, size_t(most), stream.get()), "measuring");
    rates.bytes = best_rate(stream, int64_t{1} << 20, most, [&](int64_t bytes) {
      expect(cudaMemcpyAsync(to.data(), from.data(), size_t(bytes), cudaMemcpyDeviceToDevice,
                             stream.get()),
             "measuring");
      return 2.0 * double(bytes);
    });
  }
  if (launch.products == cuda::Products::kPlain) return rates;
  Random random(1);  // zeros would take less power, and so run faster than anything real
  std::vector<uint16_t> numbers(cuda::kCeilingTileBytes / sizeof(uint16_t));
  for (uint16_t& number : numbers) {
    number = half_bits(float(random.normal()), cuda::Element::kBFloat16);
  }
  const DeviceMemory tiles(cuda::kCeilingTileBytes, "measuring");
  const DeviceMemory sums(size_t(launch.multiprocessors) * cuda::kCeilingThreads * sizeof(float),
                          "measuring");
  expect(cudaMemcpyAsync(tiles.data(), numbers.data(), cuda::kCeilingTileBytes,
                         cudaMemcpyHostToDevice, stream.get()),
         "measuring");
  rates.operations = best_rate(stream, 1, 1 << 20, [&](int64_t steps) {
    return cuda::run(
        cuda::ProductCeiling{tiles.data(), int(steps), reinterpret_cast<float*>(sums.data())},
        launch);
  });
  return rates;
}

}  // namespace sact::engine
