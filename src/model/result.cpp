#include "model/result.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "halting/halting.h"
#include "model/flops.h"
#include "model/preprocess.h"

namespace sact {

std::vector<double> softmax(const std::vector<float>& logits) {
  SACT_ASSERT(!logits.empty());
  const double largest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> probabilities;
  for (float logit : logits) probabilities.push_back(std::exp(logit - largest));
  const double sum = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  for (double& probability : probabilities) probability /= sum;
  return probabilities;
}

std::vector<ScoredClass> top_classes(const std::vector<float>& logits, int count) {
  const std::vector<double> probabilities = softmax(logits);
  std::vector<int> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const size_t kept = std::min(size_t(std::max(count, 0)), order.size());
  std::partial_sort(order.begin(), order.begin() + long(kept), order.end(), [&](int a, int b) {
    const float la = logits[size_t(a)], lb = logits[size_t(b)];
    return la != lb ? la > lb : a < b;
  });
  std::vector<ScoredClass> top;
  for (size_t i = 0; i < kept; ++i) {
    top.push_back({order[i], probabilities[size_t(order[i])]});
  }
  return top;
}

void check_finite(const ImageResult& result, const std::string& name) {
  bool finite = all_finite(result.logits);
  for (const BlockResult& block : result.blocks) {
    finite = finite && all_finite(block.ponder_cost.values);
  }
  if (!finite) fail("{}: the network's output is not finite", name);
}

double mean_ponder_cost(const BlockResult& block) {
  const auto& values = block.ponder_cost.values;
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

double mean_units(const BlockResult& block) {
  return double(std::accumulate(block.units.begin(), block.units.end(), int64_t{0})) /
         double(block.units.size());
}

double ponder_cost(const ImageResult& result) {
  double sum = 0;
  for (const BlockResult& block : result.blocks) sum += mean_ponder_cost(block);
  return sum;
}

Map ponder_cost_map(const ImageResult& result) {
  std::vector<Map> maps;
  for (const BlockResult& block : result.blocks) maps.push_back(block.ponder_cost);
  return total_ponder_cost(maps);
}

void set_flops(const ModelSpec& spec, Size image, std::span<ImageResult> results) {
  const std::vector<LayerCost> layers = layer_list(spec, image);
  for (ImageResult& result : results) {
    std::vector<std::span<const int32_t>> units;
    for (const BlockResult& block : result.blocks) units.push_back(block.units);
    result.flops = adaptive_flops(spec, image, layers, units);
  }
}

int64_t result_flops(const ModelSpec& spec, Size image, const std::vector<BlockResult>& blocks) {
  ImageResult result;
  result.blocks = blocks;
  set_flops(spec, image, {&result, 1});
  return result.flops;
}

}  // namespace sact
