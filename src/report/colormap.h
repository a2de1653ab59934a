// The colour map of all pictures: from dark blue through magenta and orange to light yellow.
#pragma once

#include "report/color.h"

namespace sact::report {

/// The colour of `t` in 0 ... 1; values outside are clamped, NaN gives kMissingColor.
Rgb sequential_color(double t);

/// The same colour before rounding to 8 bits; `t` must be in 0 ... 1.
Oklab sequential_oklab(double t);

}  // namespace sact::report
