#include "engine/cuda/workspace.h"

#include <algorithm>

#include "model/architecture.h"

namespace sact::engine {
namespace {

cuda::GridShape grid_of(int images, Size size) {
  return {images, size.height, size.width};
}

/// Hands out parts of one piece, each at an address that all accesses like.
class Carving {
 public:
  explicit Carving(std::byte* base) : base_(base) {}

  template <typename T>
  void take(T*& part, int64_t bytes) {
    part = base_ ? reinterpret_cast<T*>(base_ + used_) : nullptr;
    skip(bytes);
  }
  void skip(int64_t bytes) {
    constexpr int64_t kAlignment = 256;
    used_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  int64_t used() const { return used_; }

 private:
  std::byte* base_;
  int64_t used_ = 0;
};

}  // namespace

CudaGeometry::CudaGeometry(const ModelSpec& spec, int image_count, Size image_size)
    : images(image_count), image(image_size) {
  first = grid_of(images, spec.block_size(0, image));
  input = stem = first;
  if (const auto steps = stem_of(spec)) {
    input = grid_of(images, image);
    stem = grid_of(images, steps->convolution.output(image));
  }
  for (int block = 0; block < spec.blocks(); ++block) {
    blocks.push_back(grid_of(images, spec.block_size(block, image)));
  }
}

int64_t Workspace::lay_out(const ModelSpec& spec, const CudaGeometry& geometry, cuda::Element type,
                           const CudaEnds& ends, std::byte* base) {
  const int64_t element = cuda::bytes_of(type);
  const bool has_stem = spec.stem != Stem::kNone;
  const int input_channels = has_stem ? 3 : spec.stem_channels();
  int64_t stream = int64_t(geometry.stem.rows()) * spec.stem_channels();
  int64_t hidden = 0, preactivation = 0, rows = 0, halted = 0, bands = 0, channels = 0, units = 0;
  int64_t planes = 0;
  for (int block = 0; block < spec.blocks(); ++block) {
    const int64_t before = geometry.before(block).rows();
    const int64_t own = geometry.blocks[size_t(block)].rows();
    const int in = spec.block_input_channels(block), out = spec.block_channels(block);
    const int64_t own_bands =
        int64_t(geometry.images) * cuda::bands_of(geometry.blocks[size_t(block)].positions());
    stream = std::max({stream, before * in, own * out});
    preactivation = std::max({preactivation, before * in, own * out});
    hidden = std::max(hidden, std::max(before, own) * spec.block_width(block));
    rows = std::max(rows, own);
    planes = std::max(planes, own * (out / 64) * cuda::kTapStride);
    bands = std::max(bands, own_bands);
    halted = std::max(halted, own_bands * out);
    channels = std::max<int64_t>(channels, out);
    units = std::max<int64_t>(units, spec.units[size_t(block)]);
  }
  Carving carving(base);
  const int64_t values = int64_t(geometry.input.rows()) * input_channels;
  carving.take(upload, ends.input_is_placed ? 0 : values * 4);
  const int64_t padded = int64_t(cuda::padded_for_stem(geometry.stem).rows()) * cuda::kStemChannels;
  carving.take(input, has_stem ? std::max(values, padded) * element : 0);
  for (void*& part : streams) carving.take(part, stream * element);
  const bool basic = expansion(spec.unit) == 1;
  carving.take(preactivated, basic ? preactivation * element : 0);
  carving.take(this->hidden, hidden * element);
  carving.take(narrow, hidden * element);
  carving.take(means, int64_t(geometry.images) * channels * 4);
  if (spec.adaptive()) {
    carving.take(halting.cumulative, rows * 4);
    carving.take(halting.remainders, rows * 4);
    carving.take(halting.active, rows);
    carving.take(halting.reached, rows);
    carving.take(scores, rows * 4);
    carving.take(tap_values, rows * cuda::kTapStride * 4);
    carving.take(score_planes, type == cuda::Element::kFloat32 ? 0 : planes * 4);
    carving.take(halted_sums, halted * 4);
    carving.take(band_sums, bands * 8);
    carving.take(active_list, rows * 4);
    carving.take(reached_list, rows * 4);
    carving.take(part_counts, 2 * (rows / cuda::kListRows + 1) * 4);
    carving.take(counts, 2 * units * 4);
    carving.take(spent, int64_t(geometry.images) * 8);
  }
  const int64_t start = carving.used();
  carving.take(results, 0);
  logits_at = carving.used() - start;
  const int last = spec.blocks() - 1;
  carving.skip(spec.classes > 0 ? int64_t(geometry.images) * spec.outputs() * 4
               : ends.features_stay
                   ? int64_t(sizeof(int32_t))
                   : int64_t(geometry.blocks.back().rows()) * spec.block_channels(last) * 4);
  ponder_at.clear();
  units_at.clear();
  for (int block = 0; spec.adaptive() && block < spec.blocks(); ++block) {
    for (std::vector<int64_t>* place : {&ponder_at, &units_at}) {
      place->push_back(carving.used() - start);
      carving.skip(int64_t(geometry.blocks[size_t(block)].rows()) * 4);
    }
  }
  result_bytes = carving.used() - start;
  return carving.used();
}

}  // namespace sact::engine
