// The colour map of all pictures: from dark blue through magenta and orange to light yellow.
#pragma once

#include <array>

#include "report/color.h"

namespace sact::report {

/// Steps of the table that colours are taken from: neighbours differ by at most one in a channel.
inline constexpr int kSequentialSteps = 2048;

/// The colours of t = 0, 1 / kSequentialSteps, ... 1.
const std::array<Rgb, kSequentialSteps + 1>& sequential_table();

/// The colour of `t` in 0 ... 1; values outside are clamped, NaN gives kMissingColor.
Rgb sequential_color(double t);

/// The same colour before rounding to 8 bits; `t` must be in 0 ... 1.
Oklab sequential_oklab(double t);

}  // namespace sact::report
