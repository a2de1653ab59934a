// Runs a plan on a GPU. A session belongs to one thread of its user at a time and has a stream of
// its own; any number of sessions may share a plan.
//
// All work of a network is put on the stream at once: how many rows go on is known to the device
// alone. What was started for a batch of one size is recorded as a CUDA graph, and started again as
// a whole.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backend/session.h"
#include "engine/cuda/plan.h"
#include "engine/cuda/settings.h"
#include "engine/cuda/workspace.h"
#include "halting/control.h"
#include "kernels/cuda/inference/kernels.h"
#include "model/hard_budget.h"

namespace sact::engine {

class CudaSession : public NetworkSession {
 public:
  explicit CudaSession(std::shared_ptr<const CudaPlan> plan, const HaltingControl& halting = {});
  CudaSession(std::shared_ptr<const CudaPlan> plan, const HaltingControl& halting,
              const CudaSettings& settings, const CudaEnds& ends = {});
  ~CudaSession() override;

  std::vector<ImageResult> run(const InputView& input) override;
  using NetworkSession::run;
  /// In pages that stay where they are.
  std::span<float> input_memory(int64_t values) override;
  void expect_memory(int count, Size size) const override;
  void set_halting(const HaltingControl& halting) override;
  /// Asked before every group of images, which the device runs as a whole.
  void set_interruption(std::function<bool()> interrupted) override {
    interrupted_ = std::move(interrupted);
  }
  void prescribe_units(std::vector<std::vector<int32_t>> units) override;
  std::vector<LayerTime> time_layers(const InputView& input) override;
  /// On the device, between two events; images that run in several groups, all of them.
  double time_run(const InputView& input) override;

  /// Memory of the device for a run.
  int64_t bytes_needed(int count, Size size) const;
  /// Without a head: the features of the last run's last group, [rows, channels].
  std::span<const float> features() const { return features_; }

  /// Features on the device: rows of the plan's element type.
  struct DeviceFeatures {
    cuda::GridShape grid;
    int channels = 0;
    const void* rows = nullptr;
  };
  /// With CudaEnds::features_stay those of the last run, which has ended.
  DeviceFeatures device_features() const;
  /// Puts what enters the network for `count` images from `first` on to rows in the memory of the
  /// device, on the session's stream.
  using Place = std::function<void(int first, int count, void* rows)>;
  /// With CudaEnds::input_is_placed: runs on what `place` puts there, which is called for every
  /// group of images.
  std::vector<ImageResult> run_placed(int count, Size size, const Place& place);

  const Stream& stream() const { return stream_; }
  const cuda::Launch& launch() const { return launch_; }

 private:
  /// How a batch comes.
  enum class Entry { kPixels, kPlanes, kPlaced };
  struct Batch {
    int count = 0;
    Size size;
    Entry entry = Entry::kPixels;
    bool operator==(const Batch&) const = default;
  };
  static Batch batch_of(const InputView& input);
  /// What was started for a batch, ready to be started again.
  struct Recording {
    Batch batch;
    cudaGraphExec_t graph = nullptr;  // null: it came once, and nothing was recorded yet
  };
  /// What halting knows between units of a block.
  struct BlockState {
    int number = 0;
    void *entered = nullptr, *stream = nullptr, *mean = nullptr;
    cuda::HaltingRows halting;
    const int32_t* counts = nullptr;  // of the rows that go on; null: all
    int score_planes = 0;             // that the last residual has left
    bool dense = false;               // evaluated everywhere, written where active
  };

  int group_size(const Batch& batch) const;
  void prepare(int images, Size size);
  void tell_dense_blocks() const;
  void forget_recordings();
  Recording& recording_of(const Batch& batch);
  void record(Recording& recording);
  void tune(const Batch& batch);
  /// Puts a batch whose input is there on the stream.
  void start(const Batch& batch);
  /// Runs a batch in groups; `enter` brings the input of one.
  std::vector<ImageResult> run_groups(const Batch& batch,
                                      const std::function<void(int first, int count)>& enter);
  void reserve_pinned(size_t bytes);
  void upload(const InputView& input);
  void upload_prescribed(int first_image);
  void download(const Batch& batch, std::span<ImageResult> results);
  ImageResult empty_result() const;
  void check_prescribed(const Batch& batch) const;

  // What a run consists of; each call puts kernels on the stream.
  void start_network(Entry entry);
  void start_stem(Entry entry);
  bool stem_on_tensor_cores() const;
  void start_block(int block);
  void start_first_bottleneck(BlockState& state, const DeviceUnit& unit);
  void start_first_basic(BlockState& state, const DeviceUnit& unit);
  void start_bottleneck(BlockState& state, const DeviceUnit& unit, int number);
  void start_basic(BlockState& state, const DeviceUnit& unit, int number);
  void start_halting(BlockState& state, const DeviceUnit& unit, int number);
  void start_lists(BlockState& state, int number);
  bool runs_dense(int block) const;
  void start_head();
  const void* features_at() const;
  void set_residual(cuda::Product& call, const BlockState& state, const DeviceUnit& unit,
                    int number) const;
  void start_residual(BlockState& state, const DeviceUnit& unit, cuda::Product call);
  /// Returns how many planes of scores the product leaves.
  int start_product(const DeviceLayer& layer, const cuda::Product& call);
  cuda::Launch after_copy() const;
  cuda::RowSet rows_in(Domain domain, const BlockState& state) const;
  template <typename Call>
  void put(const Call& call) {
    cuda::run(call, plan_->type, launch_);
  }

  std::shared_ptr<const CudaPlan> plan_;
  HaltingControl halting_;
  CudaSettings settings_;
  CudaEnds ends_;
  Stream stream_;
  cuda::Launch launch_;
  DeviceMemory memory_, prescribed_memory_, scratch_;
  PinnedMemory pinned_input_, pinned_results_;
  CudaGeometry geometry_;
  Workspace space_;
  std::vector<Recording> recordings_;  // the latest, the newest last
  std::vector<std::vector<int32_t>> prescribed_;
  std::vector<const int32_t*> prescribed_at_;  // on the device, of blocks
  std::optional<HardBudget> budget_;
  std::vector<float> features_;
  std::function<bool()> interrupted_;
  // While layers are timed.
  struct TimedLayer {
    const DeviceLayer* layer;
    int64_t rows;
    double bytes;
    Event begin, end;
  };
  bool timing_ = false;
  bool tuning_ = false;  // shapes of tiles are measured
  std::vector<TimedLayer> timed_;
};

}  // namespace sact::engine
