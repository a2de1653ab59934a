// Runs a plan on images. A session belongs to one thread of its user at a time; any number of
// sessions may share a plan.
//
// All threads of a session go through the whole network side by side. Each computes its share of a
// layer's rows (or columns, where rows are few), with a barrier where one needs what another made.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backend/session.h"
#include "detect/crop.h"
#include "engine/cpu/layer_team.h"
#include "engine/cpu/plan.h"
#include "engine/geometry.h"
#include "halting/control.h"
#include "halting/halting.h"
#include "model/hard_budget.h"

namespace sact::engine {

class CpuSession : public NetworkSession, private LayerTeam {
 public:
  CpuSession(std::shared_ptr<const Plan> plan, int threads, const HaltingControl& halting = {});
  /// Sessions that run one after the other can share their threads.
  CpuSession(std::shared_ptr<const Plan> plan, std::shared_ptr<ThreadTeam> team,
             const HaltingControl& halting = {});

  /// A network without a stem takes features, which are pixels of its first block's channels.
  std::vector<ImageResult> run(const InputView& input) override;
  using NetworkSession::run;
  void expect_memory(int count, Size size) const override;
  /// What that asks for.
  int64_t bytes_needed(int count, Size size) const;

  void set_halting(const HaltingControl& halting) override;
  void set_interruption(std::function<bool()> interrupted) override {
    interrupted_ = std::move(interrupted);
  }
  void prescribe_units(std::vector<std::vector<int32_t>> units) override {
    prescribed_ = std::move(units);
  }
  void observe(OperandObserver* observer) override { set_observer(observer); }
  std::vector<LayerTime> time_layers(const InputView& input) override;

  /// Without a head: the features of an image, where the last run left them in this session's
  /// memory. Of images that ran in several groups those of the last group are there.
  detect::FeatureMap features(int image = 0) const;

  /// Verbose messages tell the profile of the first run on images of a size.
  using LayerTeam::profile;
  using LayerTeam::set_profiling;

  const Plan& plan() const { return *plan_; }

 private:
  /// What the buffers of a run must hold, in elements.
  struct Needs {
    int64_t stream = 0, operand = 0, input = 0, rows = 0, chunk = 0, channels = 0, images = 0;
    int64_t outputs = 0;
    int64_t transformed = 0;  // bytes, for each thread
    bool operator==(const Needs&) const = default;
  };

  HiddenRows hidden_rows() const;
  /// Numbers that enter for each position of an image.
  int input_channels() const { return plan_->stem ? 3 : plan_->spec.stem_channels(); }
  /// Of what enters, as the stem multiplies it.
  const kernels::OperandType& input_operands() const {
    return plan_->stem ? *plan_->stem->weights.type
                       : kernels::operand_type(kernels::DataType::kFloat32);
  }
  /// Of what the head multiplies.
  const kernels::OperandType& head_operands() const {
    return plan_->head ? *plan_->head->layer.weights.type
                       : kernels::operand_type(kernels::DataType::kFloat32);
  }
  int64_t head_stride(int channels) const {
    return row_stride(channels, head_operands().rows.bytes);
  }
  /// Images that are run at a time.
  int group_size(Size size) const;
  int groups_of(int count, Size size) const;
  void prepare(int count, Size size);
  Needs needs_of(int count, Size size) const;
  /// Those of a run, and of those before that the memory is kept for.
  Needs with_held(const Needs& needs) const;
  /// What take_memory() takes for them.
  int64_t arena_bytes(const Needs& needs) const;
  void take_memory(const Needs& needs);
  /// All that a run takes beside its input.
  int64_t bytes_of_run(int count, Size size) const;
  void expect_bytes(int64_t bytes, int count, Size size) const;
  ImageResult empty_result() const;
  void check_prescribed(int count, Size size) const;
  void run_group(const InputView& input, std::span<ImageResult> results);
  /// Asks whether the run shall end; all threads get the same answer.
  bool stopped(int thread);

  // What every thread does; `thread` counts from 0.
  using Results = std::span<ImageResult>;
  void work(int thread, const InputView& input, Results results);
  void run_stem(int thread, const InputView& input);
  void find_overflow(const float* rows, int thread);
  void fill_padded(int thread, const InputView& input);
  void enter_features(int thread, const float* features);
  void run_block(int thread, int block, Results results);
  void enter_block(int thread, int block);
  void run_first_bottleneck(int thread, int block);
  void run_first_basic(int thread, int block);
  void run_bottleneck(int thread, int block, int number);
  void run_conv1(int thread, const PackedUnit& unit, kernels::RowProduct conv1, const int32_t* read,
                 Split split);
  /// Where listed positions have their hidden rows; in memory of the thread unless all or plain.
  const int32_t* hidden_rows_of(int thread, const Geometry::Hidden& hidden,
                                const RowList& positions);
  void clear_border(const Geometry::Hidden& hidden, int width);
  void run_conv2_and_conv3(int thread, int block, const PackedUnit& unit, kernels::RowProduct conv2,
                           kernels::RowProduct conv3, Split split);
  void run_basic(int thread, int block, int number);
  void run_head(int thread, Results results);

  // Halting: what positions add to scores, the rule, and the next active set.
  void start_halting(int thread, int block);
  void add_to_scores(int thread, int block, const PackedScore& score, Share share);
  void finish_scores(int thread, int block, const PackedScore& score);
  void average_scores(int block);
  void limit_scores(int thread, int block, int number);
  void halt(int thread, int block, int number, Results results);
  void start_mean(int block, int32_t row);
  void finish_position(int block, int number, int32_t row, Results results);
  /// Calls work(image, rows, count) for parts of a list, each of one image and a few hundred rows.
  template <typename Work>
  void for_each_image_part(const Grid& grid, int channels, const int32_t* rows, int count,
                           const Work& work) const;

  // Layers over tiles.
  int chosen_side(int block, int images, Size size) const;
  /// Bytes of transformed inputs, for each thread.
  int64_t transformed_in(int block, int images, Size size) const;
  kernels::TileGrid tile_grid(int block) const;
  void choose_tiles();
  void start_tiles(int block);
  void update_tiles(int block);
  const RowList& tiles_in(Domain domain) const;
  bool runs_over_tiles(int block, const PackedLayer& layer) const;
  void convolve_tiles(int thread, int block, const PackedLayer& layer,
                      const kernels::RowProduct& product, bool inputs_everywhere, bool to_f32);
  /// A 3x3 layer of stride 1, over tiles or direct.
  void convolve(int thread, int block, const PackedLayer& layer, const kernels::RowProduct& product,
                bool inputs_everywhere, bool to_f32);
  /// What the calling thread will read first of a 3x3 layer's weights.
  const void* first_window_weights(int thread, int block, const PackedLayer& layer,
                                   Split split) const;

  // Products.
  kernels::RowProduct window_product(const PackedLayer& layer, int block, const void* input,
                                     const RowList& rows) const;
  kernels::RowProduct shortcut_product(const PackedUnit& unit, int block) const;
  void multiply_shortcut(int thread, const PackedUnit& unit, int block);
  void make_centre_operands(const PackedUnit& unit, int block, Share rows, void* output) const;
  /// Takes a product as the residual of a unit.
  void set_residual(kernels::RowProduct& call, int block, int number) const;
  void log_profile(int count, Size size) const;

  /// What the first layers of a unit multiply: rows of the stream, normalised where the unit has a
  /// pre-activation.
  void make_operands(const PackedUnit& unit, int channels, const float* input, const int32_t* rows,
                     int count, void* output) const;
  /// Rows of a layer that comes after a block's first unit. Where nothing halts all are active.
  const RowList& rows_in(Domain domain) const {
    return domain == Domain::kDilated ? rows_.dilated() : rows_.active();
  }
  /// Whether rows of the stream are that already.
  bool reads_stream(const PackedUnit& unit) const {
    return !unit.preactivation && kernels::operand_type(plan_->type).takes_float_rows();
  }

  std::shared_ptr<const Plan> plan_;
  HaltingControl halting_;
  std::function<bool()> interrupted_;
  bool stop_ = false;                                        // the run under way
  std::exception_ptr question_;                              // what asking threw
  const Geometry* geometry_ = nullptr;                       // of the run under way
  std::vector<std::unique_ptr<const Geometry>> geometries_;  // the latest, the newest last
  std::vector<std::vector<int32_t>> prescribed_;
  int first_image_ = 0;        // of the group, in the batch
  bool new_geometry_ = false;  // was met in the run under way

  Arena arena_{0};
  Needs held_;
  // Activations, [rows, channels]. Those of operands (void) have a row of zeros after the last.
  float *stream_ = nullptr, *next_stream_ = nullptr;
  float* mean_ = nullptr;  // the halting distribution's mean of a block's states: its output
  void *padded_ = nullptr, *preactivated_ = nullptr, *hidden_ = nullptr, *narrow_ = nullptr;
  // Layers over tiles, for the geometry of the run.
  std::vector<int> tile_sides_;                              // of each block; 0: none
  std::vector<const kernels::PackedWeights*> tile_weights_;  // of each layer, or null
  RowList tiles_, wide_tiles_;   // with any active row; with any of the dilated set
  void* transformed_ = nullptr;  // inputs of tiles
  // Halting, [rows].
  ActiveRows rows_;
  HaltingState* states_ = nullptr;
  float *remainders_ = nullptr, *scores_ = nullptr;
  float* tap_values_ = nullptr;   // [rows, kScoreStride], and a row of zeros
  std::vector<Map> tile_scores_;  // of one image, for every block, where tiles are averaged
  // Where the work of images is limited.
  std::optional<HardBudget> budget_;
  std::vector<HardBudget::Account> accounts_;  // of the images of a group
  std::vector<float> cumulative_;              // [rows]
  std::vector<char> overflowed_;  // with whole numbers, images whose stem's output is not finite
  void* head_input_ = nullptr;    // [images, channels]: means over positions of the last block
  float* head_output_ = nullptr;  // [images, outputs]

  /// What one thread has for itself.
  struct Scratch {
    void *normalised = nullptr, *narrow = nullptr;  // [chunk, channels]
    float* sums = nullptr;                          // [channels]
    double *halted = nullptr, *active = nullptr;    // [images, channels]: sums over positions
    double* global = nullptr;                       // [images]: its part of the global scores
    int32_t* halting = nullptr;                     // [rows]: those that halt after this unit
    int32_t* hidden = nullptr;                      // [rows]: hidden rows of a list
  };
  std::vector<Scratch> scratch_;
};

}  // namespace sact::engine
