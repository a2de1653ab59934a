// Runs a plan on images. A session belongs to one thread of its user at a time; any number of
// sessions may share a plan.
//
// All threads of a session go through the whole network side by side. Each computes its share of a
// layer's rows (or columns, where rows are few), and they meet where one needs what another made.
#pragma once

#include <memory>
#include <vector>

#include "base/thread_team.h"
#include "engine/geometry.h"
#include "engine/plan.h"
#include "halting/halting.h"
#include "model/runner.h"

namespace sact::engine {

/// How threads share a product: each takes one of the parts of rows and one of the columns.
struct Split {
  int row_parts = 1, column_parts = 1;
};

/// What happened to one layer in the last run.
struct LayerProfile {
  double seconds = 0;  // of the first thread
  int64_t rows = 0;    // of all threads
  Split split;
  kernels::TapOrder order = kernels::TapOrder::kRegisters;
};

class Session : public Runner {
 public:
  Session(std::shared_ptr<const Plan> plan, int threads);

  std::vector<ImageResult> run(const std::vector<float>& planes, int count, Size size) override;

  /// For measuring: from now on positions get these numbers of units, [block][row of the batch],
  /// whatever their scores say; the scores are worked out all the same. Empty: no more.
  void prescribe_units(std::vector<std::vector<int32_t>> units) { prescribed_ = std::move(units); }

  /// From now on every run keeps a profile of its layers, [index of the layer].
  void set_profiling(bool on) { profiling_ = on; }
  const std::vector<LayerProfile>& profile() const { return profile_; }

  const Plan& plan() const { return *plan_; }

 private:
  class Timer;

  /// Items [first, last) of a list.
  struct Share {
    int first = 0, last = 0;
    int count() const { return last - first; }
  };

  void prepare(int count, Size size);
  void prepare_memory();
  std::vector<ImageResult> empty_results() const;

  // What every thread does; `thread` counts from 0.
  void work(int thread, const std::vector<float>& planes, std::vector<ImageResult>& results);
  void run_stem(int thread, const std::vector<float>& planes);
  void fill_padded(int thread, const std::vector<float>& planes);
  void run_block(int thread, int block, std::vector<ImageResult>& results);
  void run_first_unit(int thread, int block);
  void run_bottleneck(int thread, int block, int number);
  void run_basic(int thread, int block, int number);
  void run_head(int thread, std::vector<ImageResult>& results);

  // Halting: what positions add to scores, the rule, and the next active set.
  void start_halting(int thread, int block);
  void add_to_scores(int thread, int block, const Score& score, Share share);
  void finish_scores(int thread, int block, const Score& score);
  void average_scores(int block);
  void halt(int thread, int block, int number, std::vector<ImageResult>& results);
  void finish_position(int thread, int block, int32_t row, std::vector<ImageResult>& results);

  // Products.
  kernels::RowProduct product_of(const Layer& layer) const;
  /// Takes a product as the residual of a unit.
  void set_residual(kernels::RowProduct& call, int block, int number) const;
  Split split_of(int rows, const Layer& layer) const;
  /// What the calling thread will read first of a layer's weights.
  const void* first_weights(int thread, const Layer& layer, Split split) const;
  /// The calling thread's part of a product.
  void multiply(int thread, const Layer& layer, const kernels::RowProduct& call, bool to_f32);
  /// All of a product, on the calling thread.
  void multiply_alone(int thread, const Layer& layer, const kernels::RowProduct& call, bool to_f32);
  void note(int thread, int layer, int64_t rows, Split split, kernels::TapOrder order);

  void normalise(const Affine& norm, const float* input, const int32_t* rows, int count,
                 void* output) const;
  Share share_of(int count, int thread) const;
  /// Calls work(share) for parts of a share whose rows stay in the second cache.
  template <typename Work>
  void for_each_chunk(Share share, int channels, const Work& work) const;
  int chunk_rows(int channels) const;
  int operand_size() const { return kernels::element_size(plan_->type); }
  int64_t operand_stride(int channels) const;

  std::shared_ptr<const Plan> plan_;
  ThreadTeam team_;
  Geometry geometry_;
  std::vector<std::vector<int32_t>> prescribed_;
  bool profiling_ = false;
  std::vector<LayerProfile> profile_;

  Arena arena_{0};
  // Activations, [rows, channels]. Those of operands (void) have a row of zeros after the last.
  float *stream_ = nullptr, *next_stream_ = nullptr;
  float* mean_ = nullptr;  // the halting distribution's mean of a block's states: its output
  void *padded_ = nullptr, *preactivated_ = nullptr, *hidden_ = nullptr, *narrow_ = nullptr;
  // Halting, [rows].
  ActiveRows rows_;
  HaltingState* states_ = nullptr;
  float *remainders_ = nullptr, *scores_ = nullptr;
  float* tap_values_ = nullptr;   // [rows, 9]
  std::vector<Map> tile_scores_;  // of one image, for every block, where tiles are averaged
  float* features_ = nullptr;     // [images, channels], means over positions of the last block
  void* head_input_ = nullptr;    // the same as operands

  /// What one thread has for itself.
  struct Scratch {
    void *normalised = nullptr, *narrow = nullptr;  // [chunk, channels]
    float* sums = nullptr;                          // [channels]
    double *halted = nullptr, *active = nullptr;    // [images, channels]: sums over positions
    double* global = nullptr;                       // [images]: its part of the global scores
  };
  std::vector<Scratch> scratch_;
};

}  // namespace sact::engine
