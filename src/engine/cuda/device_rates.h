// What a GPU reaches at best, measured: how fast it copies its memory and how fast it multiplies.
#pragma once

#include "engine/cuda/device.h"
#include "kernels/cuda/inference/kernels.h"

namespace sact::engine {

struct DeviceRates {
  double bytes = 0;       // a second, read and written
  double operations = 0;  // a second, of tensor cores in bf16; 0: they are not used
};

/// The best of a few runs each.
DeviceRates measure_rates(const Stream& stream, const cuda::Launch& launch);

}  // namespace sact::engine
