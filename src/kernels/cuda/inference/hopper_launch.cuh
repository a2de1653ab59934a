// Starting the kernels of product_hopper.cuh, in the shape that a cost model takes for the fastest.
#pragma once

#include "kernels/cuda/inference/launch.cuh"
#include "kernels/cuda/inference/product_hopper.cuh"

namespace sact::cuda::hopper {

/// Warpgroups that multiply, columns of a tile, blocks on a multiprocessor.
template <int kGroups_, int kColumns_, int kBlocks_>
struct Tile {
  static constexpr int kGroups = kGroups_, kColumns = kColumns_, kBlocks = kBlocks_;

  static constexpr bool fits(int columns) { return columns % kColumns == 0; }

  /// Cycles that a layer takes, about: rounds of tiles over the GPU, each as long as its tensor
  /// cores or its fetching takes, and an overhead for every tile.
  static double cycles(int rows, int columns, int steps, int multiprocessors, bool shares) {
    constexpr double kPerTile = 1500, kPerPart = 300;
    const int64_t tiles = int64_t(blocks_for(rows, 64 * kGroups)) * (columns / kColumns);
    if (shares && tiles < multiprocessors * kBlocks) {
      const int parts = depth_parts(int(tiles), steps, multiprocessors * kBlocks);
      const double each = 2.0 * (64 * kGroups + kColumns) * blocks_for(steps, parts);
      if (parts > 1) return each + 2 * kPerTile + kPerPart * parts;
    }
    const int64_t rounds = (tiles + multiprocessors * kBlocks - 1) / (multiprocessors * kBlocks);
    // A block alone on its multiprocessor has all of it.
    const int64_t sharing = tiles > multiprocessors ? kBlocks : 1;
    const double multiplying = 2.0 * kColumns * kGroups, fetching = 2.0 * (64 * kGroups + kColumns);
    const double step = multiplying > fetching ? multiplying : fetching;
    return double(rounds) * (steps * step * double(sharing) + kPerTile);
  }
};

/// Returns how many tiles the columns have.
template <Element kType, Mode kMode, Mean kMean, bool kScores, class T>
int start_tile(Arguments arguments, int columns, const Launch& launch) {
  using S = Shape<kType, T::kGroups, T::kColumns, kMode, kMean, kScores, T::kBlocks>;
  arguments.column_tiles = columns / T::kColumns;
  allow_shared(hopper_kernel<S>, S::kSharedBytes);
  const int tiles = blocks_for(arguments.most, S::kRows) * arguments.column_tiles;
  const int most = launch.multiprocessors * S::kBlocks;
  const int parts = S::kShares && arguments.partial_sums ? arguments.steps / kLeastSteps : 1;
  const int useful = parts > 1 ? tiles * parts : tiles;
  start(hopper_kernel<S>, useful < most ? useful : most, S::kThreads, launch, arguments,
        S::kSharedBytes);
  return arguments.column_tiles;
}

template <Element kType, Mode kMode, Mean kMean, bool kScores, class... Tiles>
int start_fastest(const Arguments& arguments, const Launch& launch) {
  const int columns = arguments.output_stride * 8;
  int (*fastest)(Arguments, int, const Launch&) = nullptr;
  double least = 0;
  const auto consider = [&](auto tile) {
    using T = decltype(tile);
    if (!T::fits(columns)) return;
    using S = Shape<kType, T::kGroups, T::kColumns, kMode, kMean, kScores, T::kBlocks>;
    const double cycles = T::cycles(arguments.most, columns, arguments.steps,
                                    launch.multiprocessors, S::kShares && arguments.partial_sums);
    if (fastest && cycles >= least) return;
    fastest = start_tile<kType, kMode, kMean, kScores, T>;
    least = cycles;
  };
  (consider(Tiles{}), ...);
  return fastest(arguments, columns, launch);
}

}  // namespace sact::cuda::hopper
