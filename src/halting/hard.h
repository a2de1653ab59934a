// Hard halting, for training: a position goes on in full or halts for good. The decisions and their
// gradients, for the CUDA kernels; NetworkImpl::run_hard_block() has them in LibTorch's operations.
//
// Unit l = 1 ... L-1 of a block gets the state x_{l-1} and decides by the score of the unit before:
//
//   z_l = (argument_{l-1}(x_{l-1}) - threshold) / steepness + noise_l
//   g_l = 1 where z_l > 0, else 0
//   a_l = a_{l-1} (1 - g_l),  a_0 = 1
//   x_l = F_l(x_{l-1}) where a_l = 1, x_{l-1} elsewhere,  F(x) = x + f(x), or its ReLU
//   N   = 1 + sum of a_l: the ponder cost
//
// Scores read the state without passing a gradient on to it, and g has the slope of a sigmoid. So
// with dX the gradient of x_l, and c that of N,
//
//   dA_l      = sum over channels of dX_l (F_l(x_{l-1}) - x_{l-1}) + c + dA_{l+1} (1 - g_{l+1})
//   dz_l      = -dA_l a_{l-1} s (1 - s),  s = sigmoid(z_l)
//   dX_{l-1} += dX_l, and df_l = dX_l, through the ReLU if there is one, where a_l = 1
//   dX_{l-1} += dX_l, and df_l = 0, where a_l = 0
//
// A position that has halted still has f and z: they say what it would have gained by going on.
#pragma once

namespace sact {

/// z of a score's argument.
constexpr float hard_argument(float argument, float threshold, float steepness, float noise) {
  return (argument - threshold) / steepness + noise;
}

/// g.
constexpr bool hard_halts(float z) {
  return z > 0;
}

/// F(x) - x, given F(x) as it was rounded. Without a ReLU that is f, before any rounding.
constexpr float hard_change(float x, float f, float output, bool relu) {
  return relu ? output - x : f;
}

/// Of one position and unit.
struct HardGradients {
  float z = 0;
  float before = 0;  // of the unit before, by way of this one: dA_l (1 - g_l)
};

/// `active` is dA_l, `was_active` a_{l-1}, `sigmoid` that of z.
constexpr HardGradients hard_gradients(float active, bool was_active, float z, float sigmoid) {
  return {was_active ? -active * sigmoid * (1 - sigmoid) : 0.0f, hard_halts(z) ? 0.0f : active};
}

}  // namespace sact
