// Starting the kernels of product_hopper.cuh, in the shape that was asked for or that a cost model
// takes for the fastest.
#pragma once

#include "kernels/cuda/inference/launch.cuh"
#include "kernels/cuda/inference/product_hopper.cuh"

namespace sact::cuda::hopper {

/// What a product with tiles of one shape costs, about.
template <class T>
struct Cost {
  int rows, columns, steps, multiprocessors;
  bool may_share;  // the depth of tiles

  int64_t tiles() const {
    return int64_t(blocks_for(rows, 64 * T::kGroups)) * (columns / T::kColumns);
  }
  /// Blocks that share the depth of each tile.
  int parts() const {
    const int blocks = multiprocessors * T::kBlocks;
    return may_share && tiles() < blocks ? depth_parts(int(tiles()), steps, blocks) : 1;
  }
  /// Rounds of tiles over the GPU, each as long as its tensor cores or its fetching takes, and an
  /// overhead for every tile.
  double cycles() const {
    constexpr double kPerTile = 1500, kPerPart = 300;
    const double multiplying = 2.0 * T::kColumns * T::kGroups,
                 fetching = 2.0 * (64 * T::kGroups + T::kColumns);
    if (parts() > 1) {
      return fetching * blocks_for(steps, parts()) + 2 * kPerTile + kPerPart * parts();
    }
    const int64_t rounds =
        (tiles() + multiprocessors * T::kBlocks - 1) / (multiprocessors * T::kBlocks);
    // A block alone on its multiprocessor has all of it.
    const int64_t sharing = tiles() > multiprocessors ? T::kBlocks : 1;
    const double step = multiplying > fetching ? multiplying : fetching;
    return double(rounds) * (steps * step * double(sharing) + kPerTile);
  }
};

/// Returns how many tiles the columns have.
template <class S>
int start_shape(Arguments arguments, int columns, const Launch& launch) {
  arguments.column_tiles = columns / S::kColumns;
  allow_shared(hopper_kernel<S>, S::kSharedBytes);
  const int tiles = blocks_for(arguments.most, S::kRows) * arguments.column_tiles;
  const int most = launch.multiprocessors * S::kBlocks;
  const int parts = S::kShares && arguments.partial_sums ? arguments.steps / kLeastSteps : 1;
  const int useful = parts > 1 ? tiles * parts : tiles;
  start(hopper_kernel<S>, useful < most ? useful : most, S::kThreads, launch, arguments,
        S::kSharedBytes);
  return arguments.column_tiles;
}

/// Starts the shape that `launch` names, or the cheapest; or tells of all where it was asked to.
template <Element kType, Mode kMode, Mean kMean, bool kScores, class... Tiles>
int start_one_of(const Arguments& arguments, const Launch& launch) {
  const int columns = arguments.output_stride * 8;
  int (*chosen)(Arguments, int, const Launch&) = nullptr;
  double least = 0;
  int number = 0;
  const auto consider = [&](auto tile) {
    using T = decltype(tile);
    using S = Shape<kType, T, kMode, kMean, kScores>;
    const int mine = number++;
    if (columns % T::kColumns != 0) return;
    const Cost<T> cost{arguments.most, columns, arguments.steps, launch.multiprocessors,
                       S::kShares && arguments.partial_sums};
    if (launch.shapes) launch.shapes->fitting |= 1u << mine;
    if (launch.shape >= 0 ? mine != launch.shape : chosen && cost.cycles() >= least) return;
    chosen = start_shape<S>;
    least = cost.cycles();
    if (launch.shapes) launch.shapes->cheapest_shares = cost.parts() > 1;
  };
  (consider(Tiles{}), ...);
  return launch.shapes ? 0 : chosen(arguments, columns, launch);
}

}  // namespace sact::cuda::hopper
