// Shuffling by Fisher and Yates, and dividing among workers.
#include "data/order.h"

#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/random.h"

namespace sact::data {
namespace {

// Keeps shuffling apart from other uses of the same seed.
constexpr uint64_t kOrderKey = 0x53687566666c6521ull;

}  // namespace

std::vector<int64_t> epoch_order(int64_t size, uint64_t seed, int64_t epoch, bool shuffle) {
  SACT_ASSERT(size >= 0);
  std::vector<int64_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), int64_t{0});
  if (!shuffle) return order;
  Random random = Random::derived(seed ^ kOrderKey, uint64_t(epoch));
  for (int64_t i = size - 1; i > 0; --i) {
    std::swap(order[size_t(i)], order[size_t(random.below(i + 1))]);
  }
  return order;
}

std::vector<int64_t> training_shard(const std::vector<int64_t>& order, int rank, int world) {
  SACT_ASSERT(world >= 1 && rank >= 0 && rank < world);
  const size_t ranks = size_t(world), count = (order.size() + ranks - 1) / ranks;
  std::vector<int64_t> shard;
  shard.reserve(count);
  for (size_t i = 0; i < count; ++i)
    shard.push_back(order[(i * ranks + size_t(rank)) % order.size()]);
  return shard;
}

std::vector<int64_t> evaluation_shard(const std::vector<int64_t>& order, int rank, int world) {
  SACT_ASSERT(world >= 1 && rank >= 0 && rank < world);
  std::vector<int64_t> shard;
  for (size_t i = size_t(rank); i < order.size(); i += size_t(world)) shard.push_back(order[i]);
  return shard;
}

}  // namespace sact::data
