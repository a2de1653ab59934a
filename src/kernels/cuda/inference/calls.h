// What the kernels of the CUDA engine are asked to do: plain values and addresses in the memory of
// the device. Rows are positions' channels; lists say which are read and written, and how many
// there are is known to the device alone.
#pragma once

#include <cstdint>

namespace sact::detect {
struct CropBox;
}

namespace sact::cuda {

/// In what activations are held. Sums have 32 bits always.
enum class Element { kFloat32, kBFloat16, kFloat16 };

constexpr int bytes_of(Element type) {
  return type == Element::kFloat32 ? 4 : 2;
}

/// The positions of a batch of images at one resolution; those of an image lie together.
struct GridShape {
  int images = 0, height = 0, width = 0;

  constexpr int positions() const { return height * width; }
  constexpr int rows() const { return images * positions(); }
};

/// Rows that a layer is evaluated on. Without a list all, in order.
struct RowSet {
  const int32_t* list = nullptr;
  const int32_t* count = nullptr;  // on the device; null: `most` rows
  int most = 0;                    // there can be
};

/// Rows of a grid (of stems: pairs of pixels) that tensor cores can gather from.
constexpr int kMostGatheredRows = 1 << 23;

constexpr int kTaps = 9;
constexpr int kTapStride = 12;  // numbers from one row's tap values to the next

/// How the remainder of a position is held besides, for its mean of states (see Residual): as it is
/// where the mean has begun, negated where the next residual begins it. While the remainder is 1
/// the mean is the state, and nobody keeps it.
constexpr float kNoMeanYet = 1.0f;

/// For tensor cores the stem's images have four channels, the last of zeros, and a border: three
/// lines and pixels before an image of stem output h x w, in all 2 h + 6 lines of 2 w + 6 pixels. A
/// step of the product is two lines of eight pixels; the eighth of each has weights of zeros.
constexpr int kStemSteps = 4, kStemBorder = 3, kStemChannels = 4;
constexpr GridShape padded_for_stem(const GridShape& stem) {
  return {stem.images, 2 * stem.height + 2 * kStemBorder, 2 * stem.width + 2 * kStemBorder};
}

/// For row r of the list, at (y, x) of its image in `to`, the sum over taps of what `from` has at
/// (y * stride + tap / kernel - kernel / 2, ...) times the weights of the tap; outside of an image
/// are zeros. Or, with `input_by_index`, row i of the input for row i of the list.
struct Product {
  RowSet rows;
  GridShape from, to;
  int kernel = 1, stride = 1;
  bool input_by_index = false;
  const void* input = nullptr;
  int64_t input_stride = 0;        // elements from one row to the next
  int depth = 0;                   // elements of a row
  const float* scale = nullptr;    // relu(scale * x + shift) is read instead of x; null: x is.
  const float* shift = nullptr;    // With a kernel of 1 alone.
  const float* weights = nullptr;  // [kernel * kernel * depth, columns]
  // The same for tensor cores; null: there are none.
  const void* panels = nullptr;
  const void* packed_norm = nullptr;
  bool stem = false;            // `from` are padded images, see kStemSteps
  const float* bias = nullptr;  // [columns]
  int columns = 0;
  void* output = nullptr;
  int64_t output_stride = 0;
  bool output_by_index = false;
  bool float_output = false;  // in 32 bits whatever the element type; not on tensor cores
  bool relu = false;          // after the sum
  /// The sum is added to what the output holds.
  bool add = false;
  /// [rows of `to`]: with `add` and `mean`, rows that are not kActive stay as they are. Null: all
  /// rows of the list are written.
  const uint8_t* active = nullptr;
  /// Of adaptive blocks: mean += remainder * (new - old), beginning with the old state where the
  /// remainder is negated. Where that is kNoMeanYet nothing is kept: the mean is the state.
  void* mean = nullptr;
  const float* remainders = nullptr;
  bool mean_begins = false;    // no mean has begun before this unit
  bool mean_in_place = false;  // the last unit: nobody reads the state, the mean is stored for it

  /// Weights of the halting score after the unit, for tensor cores: those of the nine taps, the
  /// global ones and six of zeros. Null: none, or they are left to Scores.
  const void* score_panels = nullptr;
  /// What they give for the new states, [planes, rows of `to`, kTapStride]: a plane is the part of
  /// some channels. run() says how many there are.
  float* score_planes = nullptr;

  constexpr int taps() const { return kernel * kernel; }
};

/// output[row] = relu(scale * input[row] + shift).
struct Normalise {
  int rows = 0, channels = 0;
  const void* input = nullptr;
  const float *scale = nullptr, *shift = nullptr;
  void* output = nullptr;
};

/// Images or features as they come, to rows of the element type.
struct Enter {
  GridShape grid;
  int channels = 3;
  const float* input = nullptr;
  bool planes = false;  // [C, H, W], otherwise [H, W, C]
  GridShape padded;     // for a stem on tensor cores, see kStemSteps; otherwise empty
  void* output = nullptr;
};

/// Whether all values are finite: `infinite` becomes 1 where one is not.
struct CheckFinite {
  int64_t values = 0;
  const void* input = nullptr;
  int32_t* infinite = nullptr;
};

/// Crops of the features of one image with max pooling, all brought to one size; see
/// detect::crop_and_pool().
struct Crops {
  GridShape features;
  int channels = 0;
  const void* input = nullptr;
  const detect::CropBox* boxes = nullptr;
  int count = 0;           // of the boxes
  int crop = 0, pool = 1;  // samples along each side, of which so many become one
  void* output = nullptr;  // [boxes, cells, cells, channels]

  constexpr int cells() const { return crop / pool; }
};
/// The largest `pool`.
constexpr int kMostPooledSamples = 256;

/// Rows as plain floats.
struct Leave {
  int64_t values = 0;
  const void* input = nullptr;
  float* output = nullptr;
};

/// Max pooling over 3x3 windows of stride 2, which begin `top` lines and `left` columns early.
struct Pool {
  GridShape from, to;
  int top = 0, left = 0, channels = 0;
  const void* input = nullptr;
  void* output = nullptr;
};

/// output[image] = mean over positions of the rows, normalised where there is a scale.
struct PoolAll {
  GridShape grid;
  int channels = 0;
  const void* input = nullptr;
  const float *scale = nullptr, *shift = nullptr;
  float* output = nullptr;  // [images, channels]
};

/// output = input * weights + bias, for each image.
struct Linear {
  int images = 0, depth = 0, columns = 0;
  const float *input = nullptr, *weights = nullptr /* [columns, depth] */, *bias = nullptr;
  float* output = nullptr;
};

/// Positions of an image that are summed together, always in one order.
constexpr int kBandRows = 128;
constexpr int bands_of(int positions) {
  return (positions + kBandRows - 1) / kBandRows;
}

/// What the halting of a block knows of each row.
struct HaltingRows {
  float* cumulative = nullptr;
  float* remainders = nullptr;  // see kNoMeanYet
  float* ponder = nullptr;
  int32_t* units = nullptr;
  uint8_t* active = nullptr;   // see RowState
  uint8_t* reached = nullptr;  // 1 in the 3x3 dilation of the active set
};
enum RowState : uint8_t { kHalted = 0, kActive = 1, kHaltedNow = 2 };

/// Everything becomes active.
struct StartHalting {
  HaltingRows rows;
  int count = 0;
  float* halted_sums = nullptr;
  int64_t halted_values = 0;
  int32_t* going_on = nullptr;  // see Halt; become 0
  int going_on_count = 0;
};

/// What positions add to halting scores: tap values of reached rows, and for each band of an image
/// the sum over its rows of global . x. States that have halted stay in sums over channels.
struct Scores {
  GridShape grid;
  int channels = 0;
  const void* input = nullptr;  // the stream
  const uint8_t* active = nullptr;
  const uint8_t* reached = nullptr;       // null: worked out from `active`
  const int32_t* active_count = nullptr;  // 0: nothing is left to do; null: not known
  const float* taps = nullptr;            // [9, channels]; null: one score for an image
  const float* tap_shifts = nullptr;      // [9]
  const float* global = nullptr;          // [channels]
  float* halted_sums = nullptr;           // [images, bands, channels]
  float* tap_values = nullptr;            // [rows, kTapStride]
  double* band_sums = nullptr;            // [images, bands]
  /// Of active rows, where the product before has them already, and the weights for the others; see
  /// Product.
  const float* planes = nullptr;
  int plane_count = 0;
  const void* panels = nullptr;
};

/// The rule for every active row after unit `number`, and its score before.
struct Halt {
  GridShape grid;
  HaltingRows rows;
  int number = 0;
  float threshold = 0, score_floor = 0;
  double shift = 0;
  const int32_t* active_count = nullptr;  // as Scores
  const float* tap_values = nullptr;      // null: one score for an image
  const double* band_sums = nullptr;
  float* scores = nullptr;              // given, or asked for; null: neither
  const int32_t* prescribed = nullptr;  // numbers of units; null: scores decide
  bool last = false;                    // unit of the block, whose score is 1
  int32_t* going_on = nullptr;          // becomes the number of rows where one goes on; null: no
};

/// Scores become means over tiles.
struct AverageTiles {
  GridShape grid;
  int tile = 1;
  const int32_t* active_count = nullptr;
  float* scores = nullptr;
};

/// Scores become 1 where an image cannot afford to go on: HardBudget::limit() for each image.
struct Limit {
  GridShape grid;
  HaltingRows rows;
  float threshold = 0;
  int group_side = 1;
  int64_t active_cost = 0, dilated_cost = 0, once_cost = 0;  // FLOPs of the next unit
  int64_t allowance = 0;
  int64_t* spent = nullptr;  // [images]
  const int32_t* active_count = nullptr;
  float* scores = nullptr;
};

/// Positions whose counts are taken together when lists are written.
constexpr int kListRows = 1024;

/// The lists of the next unit, in ascending order.
struct Lists {
  GridShape grid;
  const uint8_t* active = nullptr;
  uint8_t* reached = nullptr;
  int32_t* part_counts = nullptr;  // [2, parts]: active, reached
  int32_t* active_list = nullptr;
  int32_t* reached_list = nullptr;
  const int32_t* before = nullptr;  // how many were active until now; null: all
  int32_t* counts = nullptr;        // [2]

  constexpr int parts() const { return (grid.rows() + kListRows - 1) / kListRows; }
};

/// Means of rows that halted before the last unit take the place of their states. Others have no
/// mean, or have it there.
struct Settle {
  int rows = 0, channels = 0, block_units = 0;
  const float* remainders = nullptr;
  const int32_t* units = nullptr;
  const void* mean = nullptr;
  void* stream = nullptr;
};

/// The same tiles multiplied `steps` times on every multiprocessor, for measuring.
struct ProductCeiling {
  const void* tiles = nullptr;  // kCeilingTileBytes of numbers, of 16 bits
  int steps = 1;
  float* sums = nullptr;  // [multiprocessors, kCeilingThreads]
};
constexpr int kCeilingTileBytes = (128 + 256) * 128, kCeilingThreads = 512;

/// The stream waits, so that what follows is there when it begins.
struct Pause {
  int64_t cycles = 0;
};

}  // namespace sact::cuda
