// Products over lists of rows without tensor cores: the plainest form on the device, for any shape.
#include "kernels/cuda/inference/finish.cuh"
#include "kernels/cuda/inference/product_tensor.h"

namespace sact::cuda {
namespace {

constexpr int kTileRows = 64, kTileColumns = 64, kStep = 16, kThreads = 256;
constexpr int kEach = 4;  // rows and columns of a thread

template <typename T>
__global__ void __launch_bounds__(kThreads) product_kernel(Product p) {
  after_previous();
  __shared__ float a[kStep][kTileRows + 4], b[kStep][kTileColumns + 4];
  __shared__ int rows[kTileRows], first[kTileRows], tops[kTileRows], lefts[kTileRows];
  const int thread = int(threadIdx.x);
  const int count = p.rows.count ? *p.rows.count : p.rows.most;
  const int column_tiles = (p.columns + kTileColumns - 1) / kTileColumns;
  const int tiles = (count + kTileRows - 1) / kTileRows * column_tiles;
  const int depth = p.taps() * p.depth;
  const T* input = static_cast<const T*>(p.input);
  for (int tile = int(blockIdx.x); tile < tiles; tile += int(gridDim.x)) {
    const int first_index = tile / column_tiles * kTileRows;
    const int first_column = tile % column_tiles * kTileColumns;
    __syncthreads();
    if (thread < kTileRows) {
      const int index = first_index + thread;
      const int row = index >= count ? -1 : p.rows.list ? p.rows.list[index] : index;
      rows[thread] = row;
      if (row >= 0) {
        const int image = row / p.to.positions(), position = row - image * p.to.positions();
        const int y = position / p.to.width, x = position - y * p.to.width;
        first[thread] = p.input_by_index ? index : image * p.from.positions();
        tops[thread] = p.input_by_index ? 0 : y * p.stride - p.kernel / 2;
        lefts[thread] = p.input_by_index ? 0 : x * p.stride - p.kernel / 2;
      }
    }
    __syncthreads();
    float sums[kEach][kEach] = {};
    for (int k0 = 0; k0 < depth; k0 += kStep) {
      const int mine = thread / 4;
      for (int j = 0; j < 4; ++j) {
        const int at = thread % 4 * 4 + j, k = k0 + at;
        float value = 0;
        if (rows[mine] >= 0 && k < depth) {
          const int tap = k / p.depth, c = k - tap * p.depth;
          const int y = tops[mine] + tap / p.kernel, x = lefts[mine] + tap % p.kernel;
          const bool inside =
              p.input_by_index || (y >= 0 && y < p.from.height && x >= 0 && x < p.from.width);
          if (inside) {
            const int64_t row = first[mine] + (p.input_by_index ? 0 : y * p.from.width + x);
            value = to_float(input[row * p.input_stride + c]);
            if (p.scale) value = positive(p.scale[c] * value + p.shift[c]);
          }
        }
        a[at][mine] = value;
      }
      for (int j = 0; j < 4; ++j) {
        const int at = thread / 16, column = thread % 16 * 4 + j;
        const bool inside = k0 + at < depth && first_column + column < p.columns;
        b[at][column] =
            inside ? p.weights[int64_t(k0 + at) * p.columns + first_column + column] : 0.0f;
      }
      __syncthreads();
      for (int k = 0; k < kStep; ++k) {
        float left[kEach], right[kEach];
        for (int i = 0; i < kEach; ++i) left[i] = a[k][thread / 16 * kEach + i];
        for (int i = 0; i < kEach; ++i) right[i] = b[k][thread % 16 * kEach + i];
        for (int i = 0; i < kEach; ++i) {
          for (int j = 0; j < kEach; ++j) sums[i][j] += left[i] * right[j];
        }
      }
      __syncthreads();
    }
    for (int i = 0; i < kEach; ++i) {
      const int mine = thread / 16 * kEach + i;
      if (rows[mine] < 0) continue;
      for (int j = 0; j < kEach; ++j) {
        const int column = first_column + thread % 16 * kEach + j;
        if (column < p.columns) finish<T>(p, first_index + mine, rows[mine], column, sums[i][j]);
      }
    }
  }
}

}  // namespace

void run_plain(const Product& call, Element type, const Launch& launch) {
  const int tiles = blocks_for(call.rows.most, kTileRows) * blocks_for(call.columns, kTileColumns);
  const int blocks = tiles < 8 * launch.multiprocessors ? tiles : 8 * launch.multiprocessors;
  with_element(type, [&](auto element) {
    start(product_kernel<decltype(element)>, blocks, kThreads, launch, call);
  });
}

int run(const Product& call, Element type, const Launch& launch) {
  const bool tensor_cores = type != Element::kFloat32 && launch.products != Products::kPlain &&
                            tensor_cores_can_run(call);
  if (tensor_cores && launch.products == Products::kHopper) return run_hopper(call, type, launch);
  tensor_cores ? run_mma(call, type, launch) : run_plain(call, type, launch);
  return 0;
}

}  // namespace sact::cuda
