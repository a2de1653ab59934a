// What running a network on one image gives, whichever back end ran it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/spec.h"
#include "sact/types.h"

namespace sact {

struct ImageResult {
  std::vector<float> logits;
  std::vector<BlockResult> blocks;
  int64_t flops = 0;
};

struct ScoredClass {
  int index = 0;
  double score = 0;  // softmax probability
};

/// Probabilities of the classes.
std::vector<double> softmax(const std::vector<float>& logits);

/// The `count` most probable classes, the best first; equal ones by index.
std::vector<ScoredClass> top_classes(const std::vector<float>& logits, int count);

/// Throws sact::Error, naming the image, when a logit or a ponder cost is infinite or not a number.
void check_finite(const ImageResult& result, const std::string& name);

double mean_ponder_cost(const BlockResult& block);
double mean_units(const BlockResult& block);

/// The ponder cost of an image: the sum over blocks of the mean over positions.
double ponder_cost(const ImageResult& result);

/// The ponder cost map of an image, at the resolution of block 1.
Map ponder_cost_map(const ImageResult& result);

/// Sets the FLOPs of images of one size from the units each position was given.
void set_flops(const ModelSpec& spec, Size image, std::span<ImageResult> results);
int64_t result_flops(const ModelSpec& spec, Size image, const std::vector<BlockResult>& blocks);

}  // namespace sact
