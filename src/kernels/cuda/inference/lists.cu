// Lists of the rows that go on, and the limit to an image's work.
#include "kernels/cuda/inference/launch.cuh"

namespace sact::cuda {
namespace {

constexpr int kThreads = 256, kEach = kListRows / kThreads;

/// Whether marked(position) holds at one of the 3x3 positions around one of an image.
template <typename Marked>
__device__ bool any_around(const GridShape& grid, int position, const Marked& marked) {
  const int y = position / grid.width, x = position % grid.width;
  for (int ny = max(y - 1, 0); ny <= min(y + 1, grid.height - 1); ++ny) {
    for (int nx = max(x - 1, 0); nx <= min(x + 1, grid.width - 1); ++nx) {
      if (marked(ny * grid.width + nx)) return true;
    }
  }
  return false;
}

/// Whether there is nothing left that could be listed.
__device__ bool ended(const Lists& p) {
  return p.before && *p.before == 0;
}

__global__ void __launch_bounds__(kThreads) count_kernel(Lists p) {
  after_previous();
  if (ended(p)) return;
  __shared__ int scratch[kThreads];
  const int first = int(blockIdx.x) * kListRows + int(threadIdx.x) * kEach;
  int active = 0, reached = 0;
  for (int row = first; row < min(first + kEach, p.grid.rows()); ++row) {
    const uint8_t* image = p.active + row / p.grid.positions() * int64_t(p.grid.positions());
    const bool reach = any_around(p.grid, row % p.grid.positions(),
                                  [&](int position) { return image[position] == kActive; });
    p.reached[row] = reach;
    active += p.active[row] == kActive;
    reached += reach;
  }
  const int all_active = block_sum(active, scratch);
  __syncthreads();
  const int all_reached = block_sum(reached, scratch);
  if (threadIdx.x > 0) return;
  p.part_counts[blockIdx.x] = all_active;
  p.part_counts[p.parts() + int(blockIdx.x)] = all_reached;
}

/// The sum of what the threads before have, and of all.
__device__ int before_this(int value, int* scratch, int& all) {
  const int thread = int(threadIdx.x);
  scratch[thread] = value;
  __syncthreads();
  for (int distance = 1; distance < kThreads; distance *= 2) {
    const int other = thread >= distance ? scratch[thread - distance] : 0;
    __syncthreads();
    scratch[thread] += other;
    __syncthreads();
  }
  all = scratch[kThreads - 1];
  return scratch[thread] - value;
}

/// How many the parts before this block's have.
__device__ int before_part(const int32_t* counts, int* scratch) {
  int sum = 0;
  for (int part = int(threadIdx.x); part < int(blockIdx.x); part += kThreads) sum += counts[part];
  const int total = block_sum(sum, scratch);
  __syncthreads();
  return total;
}

__global__ void __launch_bounds__(kThreads) write_kernel(Lists p) {
  after_previous();
  const bool is_last = int(blockIdx.x) + 1 == int(gridDim.x);
  if (ended(p)) {
    if (is_last && threadIdx.x < 2) p.counts[threadIdx.x] = 0;
    return;
  }
  __shared__ int scratch[kThreads];
  const int first = int(blockIdx.x) * kListRows + int(threadIdx.x) * kEach;
  const int last = min(first + kEach, p.grid.rows());
  for (const bool reached : {false, true}) {
    const auto listed = [&](int row) {
      return reached ? p.reached[row] != 0 : p.active[row] == kActive;
    };
    int count = 0, all = 0;
    for (int row = first; row < last; ++row) count += listed(row);
    const int base = before_part(p.part_counts + (reached ? p.parts() : 0), scratch);
    int at = base + before_this(count, scratch, all);
    int32_t* list = reached ? p.reached_list : p.active_list;
    for (int row = first; row < last; ++row) {
      if (listed(row)) list[at++] = row;
    }
    if (is_last && threadIdx.x == 0) p.counts[reached ? 1 : 0] = base + all;
    __syncthreads();
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
