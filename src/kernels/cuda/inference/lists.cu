// Lists of the rows that go on, and the limit to an image's work.
#include "kernels/cuda/inference/around.cuh"
#include "kernels/cuda/inference/launch.cuh"

namespace sact::cuda {
namespace {

constexpr int kThreads = 256, kEach = kListRows / kThreads;

/// Whether there is nothing left that could be listed.
__device__ bool ended(const Lists& p) {
  return p.before && *p.before == 0;
}

/// The sum over a warp, the same in each lane.
__device__ int warp_sum(int value) {
  for (int half = 16; half > 0; half /= 2) value += __shfl_xor_sync(~0u, value, half);
  return value;
}

// Counts of a part go together in one number: the lower half those that are active, the upper half
// those that are reached.
static_assert(kListRows < 1 << 16);
constexpr int kWarps = kThreads / 32, kReachedOne = 1 << 16;

__global__ void __launch_bounds__(kThreads) count_kernel(Lists p) {
  after_previous();
  if (ended(p)) return;
  __shared__ int warps[kWarps];
  const int thread = int(threadIdx.x), rows = p.grid.rows();
  const int first = int(blockIdx.x) * kListRows + thread * kEach;
  int counts = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int row = min(first + i, rows - 1);
    const bool reach = is_reached(p.grid, p.active, row);
    if (first + i >= rows) continue;
    p.reached[row] = reach;
    counts += (p.active[row] == kActive ? 1 : 0) + (reach ? kReachedOne : 0);
  }
  counts = warp_sum(counts);
  if (thread % 32 == 0) warps[thread / 32] = counts;
  __syncthreads();
  if (thread > 0) return;
  int all = 0;
  for (int i = 0; i < kWarps; ++i) all += warps[i];
  p.part_counts[blockIdx.x] = all % kReachedOne;
  p.part_counts[p.parts() + int(blockIdx.x)] = all / kReachedOne;
}

/// How many the parts before this block's have, for each thread.
__device__ int before_part(const int32_t* counts) {
  int sum = 0;
  for (int part = int(threadIdx.x) % 32; part < int(blockIdx.x); part += 32) sum += counts[part];
  return warp_sum(sum);
}

__global__ void __launch_bounds__(kThreads) write_kernel(Lists p) {
  after_previous();
  const bool is_last = int(blockIdx.x) + 1 == int(gridDim.x);
  const int thread = int(threadIdx.x), lane = thread % 32;
  if (ended(p)) {
    if (is_last && thread < 2) p.counts[thread] = 0;
    return;
  }
  __shared__ int warps[kWarps];
  const int first = int(blockIdx.x) * kListRows + thread * kEach, rows = p.grid.rows();
  bool active[kEach], reached[kEach];
  int own = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int row = min(first + i, rows - 1);
    active[i] = first + i < rows && p.active[row] == kActive;
    reached[i] = first + i < rows && p.reached[row] != 0;
    own += (active[i] ? 1 : 0) + (reached[i] ? kReachedOne : 0);
  }
  int active_at = before_part(p.part_counts);
  int reached_at = before_part(p.part_counts + p.parts());
  int before = own;  // of the threads of this warp, with its own
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = __shfl_sync(~0u, before, max(lane - distance, 0));
    if (lane >= distance) before += other;
  }
  if (lane == 31) warps[thread / 32] = before;
  before -= own;
  __syncthreads();
  for (int i = 0; i < thread / 32; ++i) before += warps[i];
  active_at += before % kReachedOne;
  reached_at += before / kReachedOne;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    if (active[i]) p.active_list[active_at++] = first + i;
    if (reached[i]) p.reached_list[reached_at++] = first + i;
  }
  if (is_last && thread == kThreads - 1) {
    p.counts[0] = active_at;
    p.counts[1] = reached_at;
  }
}

constexpr int kLimitThreads = 512;

/// A block has an image. Groups of positions go on in the order of their cumulative score, as many
/// as can be afforded; which that are is found by halving the range of keys.
__global__ void __launch_bounds__(kLimitThreads) limit_kernel(Limit p) {
  after_previous();
  if (p.active_count && *p.active_count == 0) return;
  __shared__ int scratch[kLimitThreads];
  const int image = int(blockIdx.x), positions = p.grid.positions();
  const int64_t first = int64_t(image) * positions;
  constexpr uint64_t kNone = uint64_t{1} << 63;  // above all keys
  const auto key = [&](int position) {
    const int64_t row = first + position;
    if (p.rows.active[row] != kActive) return kNone;
    const float cumulative = p.rows.cumulative[row] + p.scores[row];
    if (!(cumulative < p.threshold)) return kNone;
    const int side = p.group_side;
    const int group =
        side == 1 ? position
                  : position / p.grid.width / side * p.grid.width + position % p.grid.width / side;
    return uint64_t(__float_as_uint(cumulative)) << 32 | uint64_t(uint32_t(group));
  };
  const auto cost_below = [&](uint64_t bound) {
    int active = 0, dilated = 0;
    for (int position = int(threadIdx.x); position < positions; position += kLimitThreads) {
      active += key(position) < bound;
      dilated += any_around(p.grid, position, [&](int near) { return key(near) < bound; });
    }
    const int all_active = block_sum(active, scratch);
    __syncthreads();
    const int all_dilated = block_sum(dilated, scratch);
    __syncthreads();
    if (all_active == 0) return int64_t{0};
    return p.active_cost * all_active + p.dilated_cost * all_dilated + p.once_cost;
  };
  const int64_t left = p.allowance - p.spent[image];
  uint64_t affordable = 0, too_much = kNone;
  int64_t cost = cost_below(kNone);
  if (cost <= left) {
    affordable = kNone;
  } else {
    cost = 0;
    while (too_much - affordable > 1) {
      const uint64_t middle = affordable + (too_much - affordable) / 2;
      const int64_t flops = cost_below(middle);
      if (flops <= left) {
        affordable = middle;
        cost = flops;
      } else {
        too_much = middle;
      }
    }
  }
  // Everybody has read what is left, and keys, before they change.
  __syncthreads();
  if (threadIdx.x == 0) p.spent[image] += cost;
  for (int position = int(threadIdx.x); position < positions; position += kLimitThreads) {
    const uint64_t own = key(position);
    if (own != kNone && own >= affordable) p.scores[first + position] = 1;
  }
}

}  // namespace

void run(const Lists& call, const Launch& launch) {
  start(count_kernel, call.parts(), kThreads, launch, call);
  start(write_kernel, call.parts(), kThreads, launch, call);
}

void run(const Limit& call, const Launch& launch) {
  start(limit_kernel, call.grid.images, kLimitThreads, launch, call);
}

}  // namespace sact::cuda
