// Runs a plan on a GPU. A session belongs to one thread of its user at a time and has a stream of
// its own; any number of sessions may share a plan.
//
// All work of a network is put on the stream at once: how many rows go on is known to the device
// alone. What was started for a batch of one size is recorded as a CUDA graph, and started again as
// a whole.
#pragma once

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
              const CudaSettings& settings);
  ~CudaSession() override;

  std::vector<ImageResult> run(const InputView& input) override;
  using NetworkSession::run;
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

 private:
  /// What was started for a batch, ready to be started again.
  struct Recording {
    int images = 0;
    Size size;
    InputLayout layout = InputLayout::kPixels;
    cudaGraphExec_t graph = nullptr;
  };
  /// What halting knows between units of a block.
  struct BlockState {
    int number = 0;
    void *entered = nullptr, *stream = nullptr, *mean = nullptr;
    cuda::HaltingRows halting;
    const int32_t* counts = nullptr;  // of the rows that go on; null: all
    int score_planes = 0;             // that the last residual has left
  };

  int group_size(const InputView& input) const;
  void prepare(int images, Size size);
  void forget_recordings();
  cudaGraphExec_t recorded(const InputView& input);
  /// Puts a batch that is uploaded on the stream.
  void start(const InputView& input);
  void upload(const InputView& input);
  void upload_prescribed(int first_image);
  void download(const InputView& input, std::span<ImageResult> results);
  ImageResult empty_result() const;
  void check_prescribed(const InputView& input) const;

  // What a run consists of; each call puts kernels on the stream.
  void start_network(InputLayout layout);
  void start_stem(InputLayout layout);
  bool stem_on_tensor_cores() const;
  void start_block(int block);
  void start_first_bottleneck(BlockState& state, const DeviceUnit& unit);
  void start_first_basic(BlockState& state, const DeviceUnit& unit);
  void start_bottleneck(BlockState& state, const DeviceUnit& unit, int number);
  void start_basic(BlockState& state, const DeviceUnit& unit, int number);
  void start_halting(BlockState& state, const DeviceUnit& unit, int number);
  void start_head();
  cuda::Product product_of(const DeviceLayer& layer, const cuda::GridShape& from,
                           const cuda::GridShape& to, const void* input) const;
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
  std::vector<TimedLayer> timed_;
};

}  // namespace sact::engine
