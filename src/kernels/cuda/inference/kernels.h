// The kernels of the CUDA engine. Each function puts one on a stream and returns at once; those
// that a GPU lacks for a call say so by throwing. No LibTorch here.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/cuda/inference/calls.h"

namespace sact::cuda {

/// What multiplies: kPlain is for any type, the others are for those of 16 bits.
enum class Products { kPlain, kMma, kHopper };

/// The shapes of tiles that a product may have. Where no blocks share the depth of a tile all give
/// the same bits.
struct TileShapes {
  uint32_t fitting = 0;          // a bit for each, by its number
  bool cheapest_shares = false;  // blocks share the depth of a tile in the one that would be chosen
};

/// Where and how kernels are started.
struct Launch {
  cudaStream_t stream = nullptr;
  int multiprocessors = 1;
  Products products = Products::kMma;
  bool overlap = false;          // a kernel may be put in place before the one before has ended
  void* scratch = nullptr;       // of scratch_bytes(), zeros at first; null: no kernel needs it
  int shape = -1;                // of tiles, for a product; below 0: a cost model chooses
  TileShapes* shapes = nullptr;  // a product tells of its shapes and is not started
};

/// What kernels share among their blocks; one for each stream.
int64_t scratch_bytes(int multiprocessors);

/// Returns how many planes of Product::score_planes it writes: none where its kernel has no scores.
int run(const Product& call, Element type, const Launch& launch);
/// Without `launch.scratch` no blocks share. None where there is nothing to choose.
TileShapes shapes_of(const Product& call, Element type, Launch launch);
void run(const Normalise& call, Element type, const Launch& launch);
void run(const Enter& call, Element type, const Launch& launch);
void run(const Leave& call, Element type, const Launch& launch);
void run(const CheckFinite& call, Element type, const Launch& launch);
void run(const Crops& call, Element type, const Launch& launch);
void run(const Pool& call, Element type, const Launch& launch);
void run(const PoolAll& call, Element type, const Launch& launch);
void run(const Linear& call, const Launch& launch);
void run(const StartHalting& call, const Launch& launch);
void run(const Scores& call, Element type, const Launch& launch);
void run(const AverageTiles& call, const Launch& launch);
void run(const Limit& call, const Launch& launch);
/// The scores of active rows alone, into Halt::scores.
void run_scores(const Halt& call, const Launch& launch);
/// The rule; from Halt::scores where they are given.
void run(const Halt& call, const Launch& launch);
void run(const Lists& call, const Launch& launch);
void run(const Settle& call, Element type, const Launch& launch);
/// In bf16. Returns how many operations these are; 0: there are no tensor cores to use.
double run(const ProductCeiling& call, const Launch& launch);
void run(const Pause& call, const Launch& launch);

}  // namespace sact::cuda
