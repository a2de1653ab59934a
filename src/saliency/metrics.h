// How well a saliency map tells where people looked: the measures of the MIT saliency benchmark
// (Bylinskii et al., "What do different evaluation metrics tell us about saliency models?"), as in
// their published code.
#pragma once

#include <cstdint>

#include "sact/types.h"
#include "saliency/fixations.h"

namespace sact::saliency {

// Every map has the size of the fixation map and finite values.

/// Area under the ROC curve with thresholds at the fixated values, from the highest down. True
/// positives are the fixations at or above a threshold, false positives the other pixels at or
/// above it; from (0, 0) to (1, 1) by trapezoids. Fixations of one value are one threshold, so that
/// no order of the pixels matters, and a constant map gets 0.5. Where they all differ this is the
/// authors' number.
double auc_judd(const Map& map, const Fixations& fixations);

/// The map with random numbers up to a millionth of its range added, which parts equal values: the
/// authors' optional jitter. Theirs is 1e-7 in double precision, less than single precision holds.
Map jittered(const Map& map, uint64_t seed);

/// How the negatives of the sampled measures are drawn.
struct Sampling {
  int splits = 100;
  double step = 0.1;  // between thresholds, on the map scaled to [0, 1]
  uint64_t seed = 0;
};

/// The same against as many pixels drawn from the whole map, with thresholds in steps; the mean
/// over the splits.
double auc_borji(const Map& map, const Fixations& fixations, const Sampling& sampling = {});

/// The same against pixels that were fixated in other images, which a centre map cannot profit
/// from. Draws without replacement from `others`, a map of the same size.
double auc_shuffled(const Map& map, const Fixations& fixations, const Fixations& others,
                    const Sampling& sampling = {});

/// Normalised scanpath saliency: the mean over fixations of the map, shifted and scaled to mean 0
/// and standard deviation 1 (n - 1 in its denominator). 0 for a constant map.
double nss(const Map& map, const Fixations& fixations);

/// Pearson's correlation with the density of fixations. 0 where one of both is constant.
double correlation(const Map& map, const Map& density);

/// The sum over pixels of the smaller of both maps, each scaled to [0, 1] and then to the sum 1. A
/// constant map counts as the uniform distribution.
double similarity(const Map& map, const Map& density);

/// Kullback-Leibler divergence of the map, which has no negative values, from the density, both
/// scaled to the sum 1: 0 is best. A map of zeros counts as the uniform distribution.
double kl_divergence(const Map& map, const Map& density);

}  // namespace sact::saliency
