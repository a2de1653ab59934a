// In which order the samples of an epoch come, and which of them a worker gets.
#pragma once

#include <cstdint>
#include <vector>

namespace sact::data {

/// The indices 0 ... size - 1, shuffled by a permutation that depends on nothing but the arguments,
/// or in their order.
std::vector<int64_t> epoch_order(int64_t size, uint64_t seed, int64_t epoch, bool shuffle);

/// Every `world`-th index from `rank` on. All ranks get the same number: where the order does not
/// divide evenly it starts again from its beginning. The n-th batches of all ranks together are one
/// run of the order, as one process with the joined batch would see it.
std::vector<int64_t> training_shard(const std::vector<int64_t>& order, int rank, int world);

/// The same without filling up: each index goes to exactly one rank.
std::vector<int64_t> evaluation_shard(const std::vector<int64_t>& order, int rank, int world);

}  // namespace sact::data
