// Threads that run the layers of a network together: how they share rows and columns of a product,
// and what every layer took.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "backend/session.h"
#include "base/thread_team.h"
#include "engine/cpu/plan.h"
#include "engine/cpu/profile.h"
#include "engine/cpu/row_calls.h"

namespace sact::engine {

class LayerTeam {
 public:
  /// From now on every run keeps a profile of its layers, [index of the layer]; it is on from the
  /// start where verbose messages are shown.
  void set_profiling(bool on) { profiling_ = on; }
  const std::vector<LayerProfile>& profile() const { return profile_; }
  void set_observer(OperandObserver* observer) { observer_ = observer; }

 protected:
  LayerTeam(std::shared_ptr<ThreadTeam> team, const kernels::Table& table, kernels::DataType type);

  /// Items [first, last) of a list.
  struct Share {
    int first = 0, last = 0;
    int count() const { return last - first; }
  };
  Share share_of(int count, int thread) const;
  /// Rows of so many bytes that stay in the second cache between two uses.
  int chunk_rows(int row_bytes) const;
  /// Calls work(part) for even parts of a share, of at most `most` rows.
  template <typename Work>
  static void for_each_chunk(Share share, int most, const Work& work);

  int operand_size() const { return operands_.rows.bytes; }
  /// Stores numbers as operands of products.
  void store_operands(const float* from, int count, void* to) const {
    operands_.rows.store(from, count, to);
  }
  int64_t operand_stride(int channels) const { return row_stride(channels, operand_size()); }

  // Products. `thread` counts from 0.
  static kernels::RowProduct product_of(const PackedLayer& layer);
  const kernels::TypedFunctions& functions_of(const PackedLayer& layer) const {
    return table_.functions(layer.type());
  }
  Split split_of(int rows, const PackedLayer& layer) const;
  Split split_of_tiles(int tiles, const PackedLayer& layer) const;
  /// How the kernels take the taps of a product.
  kernels::TapChoice taps_of(const kernels::RowProduct& call) const;
  /// What the calling thread will read first of a layer's weights.
  static const void* first_weights(int thread, const PackedLayer& layer, Split split);
  static const void* first_weights(int thread, const kernels::PackedWeights& weights, Split split);
  /// The calling thread's part of a product.
  void multiply(int thread, const PackedLayer& layer, const kernels::RowProduct& call, bool to_f32);
  /// All of a product, on the calling thread.
  void multiply_alone(int thread, const PackedLayer& layer, const kernels::RowProduct& call,
                      bool to_f32);

  /// Shows what a product is about to read, where somebody wants to see it.
  void show_operands(const PackedLayer& layer, const kernels::RowProduct& call) const;

  // Layers over tiles.
  /// Of transformed inputs, for each thread.
  int64_t transformed_bytes(int side, int depth) const;
  /// The calling thread's part of a convolution over tiles, which all threads call; `rows` outputs
  /// are asked for.
  void multiply_tiles(int thread, const PackedLayer& layer, kernels::TileConvolution call,
                      int64_t rows, bool to_f32);

  // The profile.
  bool profiling() const { return profiling_; }
  void start_profile(int layers);
  void note(int thread, int layer, int64_t rows, Split split, kernels::TapChoice taps);
  class Timer;

  const std::shared_ptr<ThreadTeam> team_;

 private:
  static int least_matrix_tiles(int rows, const PackedLayer& layer);
  /// With at most this many row parts.
  Split split_of_at_most(int parts, const PackedLayer& layer) const;
  int64_t tile_stride(int depth) const;
  int tiles_at_a_time(int side, int depth) const;

  const kernels::Table& table_;
  const kernels::TypedFunctions& functions_;
  const kernels::OperandType& operands_;
  OperandObserver* observer_ = nullptr;
  bool profiling_;
  std::vector<LayerProfile> profile_;
};

/// Adds the time of a scope to the profile of a layer, on the first thread.
class LayerTeam::Timer {
 public:
  Timer(LayerTeam& team, int thread, int layer)
      : profile_(team.profiling_ && thread == 0 ? &team.profile_[size_t(layer)] : nullptr) {
    if (profile_) start_ = Clock::now();
  }
  ~Timer() {
    if (profile_) {
      profile_->seconds += std::chrono::duration<double>(Clock::now() - start_).count();
    }
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  LayerProfile* profile_;
  Clock::time_point start_;
};

template <typename Work>
void LayerTeam::for_each_chunk(Share share, int most, const Work& work) {
  const int chunks = (share.count() + most - 1) / most;
  for (int c = 0; c < chunks; ++c) {
    work(Share{share.first + int(int64_t(share.count()) * c / chunks),
               share.first + int(int64_t(share.count()) * (c + 1) / chunks)});
  }
}

}  // namespace sact::engine
