// CUDA kernels for training blocks with halting scores.
//
// Written in plain LibTorch, a unit's halting score, its update of the halting state and its share
// of the block's output are some forty small operations. Here they are four kernels forward and
// three backward, and few of them read the residual stream:
//
//   add_and_pool        x' = x + f where active, or its ReLU; means of x' and of its square for
//                       every image
//   fold_norms          batch statistics -> one linear map per unit: the norm, then the weights
//   project_taps        for every position the nine dot products that the 3x3 convolution adds up
//   halt                adds them up, with the global score of the image, and applies the halting
//                       rule: the weight of the unit's output, and who goes on
//
//   tap_gradients       gradients of the nine dot products' weights, in parts
//   unfold_norms        gradients of all parameters of the score; what the statistics pass on to x
//   stream_gradients    gradients of x and f; adds up all that x' is used for
//
// and for a block one kernel forward for the weighted sum of its units' outputs, and two backward.
//
// With hard halting (halting/hard.h) and norms that are frozen, a unit is three kernels forward and
// four backward, of which one and two read the stream; a block needs none besides:
//
//   fold_frozen_norms   as fold_norms, by the moving averages
//   add_and_project     x' as above; in the same pass sums of x' over positions and the nine dot
//                       products, in parts
//   halt                adds up the parts, and decides who goes on
//
//   hard_gradients      gradients of x and f, of the decision, and of the scores
//   image_gradients     sums of the scores' gradients over every image
//   tap_gradients, unfold_norms as above, for the parameters that learn
//
// The 3x3 convolution has one output channel: as a convolution it wastes a tensor core, as nine
// dot products of each row it is one pass over memory. The norm in front of it is linear in x
// given its statistics, so that the normalised stream never exists in memory.
//
// Rows are positions: x is [rows, channels], images one after another (channels last). All arrays
// are in device memory; null is allowed where it is said.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace sact::cuda {

enum class Type { kFloat32, kBFloat16 };

struct BlockShape {
  int images = 0, height = 0, width = 0, channels = 0;

  constexpr int positions() const { return height * width; }
  constexpr int rows() const { return images * positions(); }
};

constexpr int kTaps = 9;
/// Channels are taken in vectors of this many.
constexpr int kVector = 8;
/// Blocks with more units are left to the plain operations.
constexpr int kMaxUnits = 64;

struct NormParameters {
  const float *scale = nullptr, *shift = nullptr;         // [C]
  float *running_mean = nullptr, *running_var = nullptr;  // [C], updated
  float epsilon = 0, momentum = 0;
};

/// H(x) = halting_score(sigmoid(local * n'(x) + global n(pool(x)) + bias)).
struct ScoreParameters {
  const float* local = nullptr;  // [C, 9] in the strides given; null for ACT
  int64_t channel_stride = 0, tap_stride = 0;
  const float *global = nullptr, *bias = nullptr;  // [C], [1]
  NormParameters local_norm, global_norm;
};

/// Everything of a unit's score that the backward pass needs, in one array of floats.
struct ScoreWorkspace {
  float *pooled, *pooled_square;                 // [B, C]
  float *local_mean, *global_mean;               // [C]
  float *local_inv_std, *global_inv_std;         // [C]
  float* taps;                                   // [9, C]: the norm's scale times the weights
  float* global;                                 // [C]: likewise
  float* shifts;  // [blocks of channels, 10]: what the norms' shifts add

  static int64_t floats(const BlockShape& shape);
  static ScoreWorkspace in(float* memory, const BlockShape& shape);
};

/// Halting state of a block's rows, [rows] each.
struct StateArrays {
  float *cumulative = nullptr, *remainder = nullptr, *units = nullptr;
};

/// The halting rule for unit number `unit` of `units`. `active` is that of this unit (not read for
/// unit 0), `next_active` that of the next (not written for the last unit); `weight` is p of the
/// unit's output, `ponder_cost` is written with the last unit.
struct HaltingRule {
  int unit = 0, units = 0;
  float threshold = 1, score_floor = 0;
  const uint8_t* active = nullptr;
  StateArrays state;
  float* weight = nullptr;
  uint8_t* next_active = nullptr;
  float* ponder_cost = nullptr;
};

/// The rule of hard halting for one unit, by the score of the unit before it. `active` is that of
/// the unit before; null: everywhere. `count` is N so far, not read where `active` is null.
struct HardRule {
  float threshold = 0, steepness = 1;
  const float* noise = nullptr;  // one value for each position; null: none
  int64_t image_stride = 0;      // of the noise
  const uint8_t* active = nullptr;
  float* z = nullptr;
  uint8_t* next_active = nullptr;
  float* count = nullptr;
};

/// What it has decided. `was_active` is null where the unit before was evaluated everywhere.
struct HardDecision {
  const uint8_t *was_active = nullptr, *active = nullptr;
  const float* z = nullptr;
  float steepness = 1;
};

/// Gradients of a score's parameters, in the layout of the parameters; null where none is wanted.
struct ScoreGradients {
  float *local = nullptr, *local_scale = nullptr, *local_shift = nullptr;
  float *global = nullptr, *global_scale = nullptr, *global_shift = nullptr, *bias = nullptr;
};

/// result = x + f where `active`, with `relu` max(x + f, 0), and x elsewhere; null `active` means
/// everywhere, null `f` means that result is x and is not written. With `workspace`, also its means
/// over every image.
void add_and_pool(Type type, const BlockShape& shape, const void* x, const void* f,
                  const uint8_t* active, bool relu, void* result, const ScoreWorkspace* workspace,
                  cudaStream_t stream);

/// Scores (before the sigmoid, [rows]) of x, and what the rule makes of them. `taps` is scratch of
/// 9 * rows floats.
void scores(Type type, const BlockShape& shape, const void* x, const ScoreParameters& parameters,
            const ScoreWorkspace& workspace, float* taps, float* score, const HaltingRule& rule,
            cudaStream_t stream);

/// The rule for the last unit, which has no score.
void halt_last(int rows, const HaltingRule& rule, cudaStream_t stream);

/// output = sum over units of weight_l * x_l.
void weighted_sum(Type type, const BlockShape& shape, int units, const void* const* x,
                  const float* weights, void* output, cudaStream_t stream);

/// Floats of scratch that hard_step needs.
int64_t hard_step_floats(const BlockShape& shape);

/// add_and_pool, and what the rule makes of the scores of its result, by frozen norms. There must
/// be local scores.
void hard_step(Type type, const BlockShape& shape, const void* x, const void* f,
               const uint8_t* active, bool relu, void* result, const ScoreParameters& parameters,
               const ScoreWorkspace& workspace, float* scratch, const HardRule& rule,
               cudaStream_t stream);

/// Gradients of weighted_sum and of the halting rule: of the last x into `last_gradient` (with
/// `relu` of what it is the ReLU of), of the
/// scores before the sigmoid into score_gradients [units - 1, rows], and their sums over every
/// image into image_gradients [units - 1, B]. Those of the other x are left to score_backward().
/// With `per_image` an image has one score (ACT), and only image_gradients are those of the
/// scores. `cost_gradient` may be null. `slope_floor`, `score_floor`: see halting_slope().
struct SumGradients {
  void* last_gradient = nullptr;
  float *score_gradients = nullptr, *image_gradients = nullptr;
};
void weighted_sum_backward(Type type, const BlockShape& shape, int units, const void* const* x,
                           const float* weights, const float* unit_counts,
                           const float* const* scores, bool per_image, bool relu, float slope_floor,
                           float score_floor, const void* output_gradient,
                           const float* cost_gradient, const SumGradients& gradients,
                           cudaStream_t stream);

/// Floats of scratch that score_backward needs.
int64_t score_backward_floats(const BlockShape& shape);

/// The gradients of a unit's output x' that it gets from elsewhere: the sum of those that are there
/// (the next unit reads x' twice), and weight times that of the block's output.
struct StreamGradients {
  const void *first = nullptr, *second = nullptr;  // may be null
  const void* output = nullptr;                    // of the block's output; may be null
  const float* weight = nullptr;                   // [rows]
};

/// Backward of add_and_pool and scores: `score_gradient` [rows] and `image_gradient` [B], its sum
/// over each image. Writes the gradients of x, of f (null: none), and of the parameters. `x` is the
/// result x', `relu` as it was there.
void score_backward(Type type, const BlockShape& shape, const void* x,
                    const ScoreParameters& parameters, const ScoreWorkspace& workspace,
                    const uint8_t* active, bool relu, const StreamGradients& from,
                    const float* score_gradient, const float* image_gradient, float* scratch,
                    void* x_gradient, void* f_gradient, const ScoreGradients& gradients,
                    cudaStream_t stream);

/// Floats of scratch that hard_backward needs.
int64_t hard_backward_floats(const BlockShape& shape);

/// The gradients of `active`, [rows] each: `later` is that of the unit's own by way of later units
/// and of the cost, `before` (written) that of the unit before. They may be the same array.
struct ActiveGradients {
  const float *cost = nullptr, *later = nullptr;  // may be null
  float* before = nullptr;
};

/// Backward of one unit with hard halting: of x' by `x`, `f` and the decision, and of the score
/// that it was decided by, with the workspace of that. Writes the gradients of x, of f, and those
/// of the parameters that are wanted.
void hard_backward(Type type, const BlockShape& shape, const void* x, const void* f,
                   const HardDecision& decision, bool relu, const StreamGradients& from,
                   const ActiveGradients& active, const ScoreParameters& parameters,
                   const ScoreWorkspace& workspace, float* scratch, void* x_gradient,
                   void* f_gradient, const ScoreGradients& gradients, cudaStream_t stream);

}  // namespace sact::cuda
