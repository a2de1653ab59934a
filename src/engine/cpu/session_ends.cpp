// What enters and leaves a network as a session runs it: stem and head, or features.
#include <algorithm>
#include <atomic>
#include <limits>

#include "engine/cpu/session.h"
#include "model/preprocess.h"

namespace sact::engine {
namespace {

/// Pixels [first, last) of a line of planes.
void interleave(const float* line, int64_t plane, int first, int last, float* pixels) {
  for (int x = first; x < last; ++x) {
    for (int c = 0; c < 3; ++c) *pixels++ = line[c * plane + x];
  }
}

}  // namespace

void CpuSession::fill_padded(int thread, const InputView& images) {
  const PaddedImages& input = geometry_->input;
  const int height = input.size.height, width = input.size.width;
  const int64_t plane = int64_t(height) * width;
  const kernels::Storage& operands = input_operands().rows;
  const Share lines = share_of(input.images * height, thread);
  for (int line = lines.first; line < lines.last; ++line) {
    const int image = line / height, y = line % height;
    const float* from = images.values.data() + image * 3 * plane;
    void* to = offset(padded_, input.offset(image, y, 0), operands.bytes);
    if (images.layout == InputLayout::kPixels) {
      operands.store(from + int64_t(y) * width * 3, width * 3, to);
      continue;
    }
    constexpr int kMost = 256;
    float pixels[3 * kMost];
    for_each_chunk({0, width}, kMost, [&](Share part) {
      interleave(from + int64_t(y) * width, plane, part.first, part.last, pixels);
      operands.store(pixels, 3 * part.count(), offset(to, 3 * part.first, operands.bytes));
    });
  }
}

void CpuSession::run_stem(int thread, const InputView& input) {
  const Geometry& g = *geometry_;
  const int channels = plan_->spec.stem_channels();
  const int64_t stride = row_stride(channels, 4);
  fill_padded(thread, input);  // its border is zero already
  team_->barrier();
  const bool pooled = !g.pool_rows.empty();
  kernels::RowProduct call = product_of(*plan_->stem);
  call.rows = g.stem.rows();
  call.input = padded_;
  call.input_stride = 1;
  call.input_rows = g.stem_taps.data();
  call.output = pooled ? next_stream_ : stream_;
  call.output_stride = stride;
  call.epilogue.relu = plan_->stem->relu;
  multiply(thread, *plan_->stem, call, true);
  team_->barrier();
  if (!overflowed_.empty()) find_overflow(static_cast<const float*>(call.output), thread);
  if (!pooled) return;
  const Share share = share_of(g.first.rows(), thread);
  plan_->table.maximum({share.count(), next_stream_, stride, g.pool_rows.data() + share.first * 9L,
                        g.stem.zero_row(), channels, stream_ + share.first * stride, stride});
  team_->barrier();
}

/// Whole numbers of 8 bits have none for what is not finite: the layers after the stem would read
/// their largest. So the image is marked here.
void CpuSession::find_overflow(const float* rows, int thread) {
  const Grid& grid = geometry_->stem;
  const int channels = plan_->spec.stem_channels();
  const int64_t stride = row_stride(channels, 4);
  const Share share = share_of(grid.rows(), thread);
  for (int row = share.first; row < share.last; ++row) {
    if (all_finite({rows + row * stride, size_t(channels)})) continue;
    std::atomic_ref(overflowed_[size_t(grid.image_of(row))]).store(1, std::memory_order_relaxed);
  }
}

/// Without a stem: features become the stream as they are.
void CpuSession::enter_features(int thread, const float* features) {
  const int channels = input_channels();
  const int64_t stride = row_stride(channels, 4);
  const Share share = share_of(geometry_->first.rows(), thread);
  for (int64_t row = share.first; row < share.last; ++row) {
    std::copy_n(features + row * channels, channels, stream_ + row * stride);
  }
  team_->barrier();
}

void CpuSession::run_head(int thread, Results results) {
  const PackedHead& head = *plan_->head;
  const Grid& grid = geometry_->blocks.back().grid;
  const int channels = head.layer.weights.depth, outputs = head.layer.weights.columns;
  // Images are shared out; each is normalised in chunks and added up.
  Scratch& scratch = scratch_[size_t(thread)];
  const Share images = share_of(grid.images, thread);
  const int64_t stride = row_stride(channels, 4);
  for (int image = images.first; image < images.last; ++image) {
    double* sums = scratch.active;
    std::fill_n(sums, channels, 0.0);
    for_each_chunk({0, grid.positions()}, chunk_rows(channels * 4), [&](Share chunk) {
      const float* rows = stream_ + (int64_t(image) * grid.positions() + chunk.first) * stride;
      if (head.norm) {
        plan_->table.functions(kernels::DataType::kFloat32)
            .norm({chunk.count(), rows, stride, nullptr, head.norm->scale.data(),
                   head.norm->shift.data(), scratch.normalised, stride, channels});
        rows = static_cast<float*>(scratch.normalised);
      }
      std::fill_n(scratch.sums, channels, 0.0f);
      plan_->table.sum({chunk.count(), rows, stride, nullptr, channels, scratch.sums});
      for (int c = 0; c < channels; ++c) sums[c] += scratch.sums[c];
    });
    for (int c = 0; c < channels; ++c) scratch.sums[c] = float(sums[c] / grid.positions());
    const kernels::Storage& operands = head_operands().rows;
    operands.store(scratch.sums, channels,
                   offset(head_input_, image * head_stride(channels), operands.bytes));
  }
  team_->barrier();
  const int64_t panels = head.layer.weights.panels();
  const Timer timer(*this, thread, head.layer.index);
  const Split split{1, team_->size(), "a row for each image"};
  note(thread, head.layer.index, grid.images, split, kernels::kOneTap);
  kernels::RowProduct call = product_of(head.layer);
  call.rows = grid.images;
  call.input = head_input_;
  call.input_stride = head_stride(channels);
  call.first_panel = int(panels * thread / team_->size());
  call.last_panel = int(panels * (thread + 1) / team_->size());
  call.output = head_output_;
  call.output_stride = outputs;
  show_operands(head.layer, call);
  functions_of(head.layer).product_to_f32(call);
  const int first = std::min(call.first_panel * head.layer.weights.panel_columns, outputs);
  const int last = std::min(call.last_panel * head.layer.weights.panel_columns, outputs);
  for (int image = 0; image < grid.images; ++image) {
    std::copy_n(head_output_ + int64_t(image) * outputs + first, last - first,
                results[size_t(image)].logits.data() + first);
    if (!overflowed_.empty() && overflowed_[size_t(image)]) {
      std::fill_n(results[size_t(image)].logits.data() + first, last - first,
                  std::numeric_limits<float>::quiet_NaN());
    }
  }
}

}  // namespace sact::engine
