#include "engine/cuda/session.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "engine/cuda/device_rates.h"
#include "model/flops.h"

namespace sact::engine {
namespace {

/// Recordings that a session keeps; each has some kilobytes for every kernel.
constexpr size_t kMostRecordings = 16;
/// Uploads in pieces: one is copied to pages that stay while another is on its way.
constexpr size_t kUploadPiece = size_t{4} << 20;

/// Values in pages that stay, which the rest of the machine cannot have: a gigabyte of them.
constexpr int64_t kMostInputMemory = int64_t{1} << 28;

/// The share of the GPU's free memory that one run may take.
int64_t affordable_bytes() {
  size_t free = 0, total = 0;
  expect(cudaMemGetInfo(&free, &total), "the GPU's memory");
  return int64_t(free / 8 * 7);
}

}  // namespace

CudaSession::CudaSession(std::shared_ptr<const CudaPlan> plan, const HaltingControl& halting)
    : CudaSession(plan, halting, cuda_settings(plan->device)) {}

CudaSession::CudaSession(std::shared_ptr<const CudaPlan> plan, const HaltingControl& halting,
                         const CudaSettings& settings, const CudaEnds& ends)
    : plan_(std::move(plan)), halting_(halting), settings_(settings), ends_(ends) {
  launch_.stream = stream_.get();
  launch_.multiprocessors = plan_->device.multiprocessors;
  launch_.products = settings_.products;
  launch_.overlap = settings_.overlap;
  if (launch_.products != cuda::Products::kHopper || plan_->type == cuda::Element::kFloat32 ||
      !settings_.sharing) {
    return;
  }
  const auto bytes = size_t(cuda::scratch_bytes(launch_.multiprocessors));
  scratch_ = DeviceMemory(bytes, "a session");
  expect(cudaMemsetAsync(scratch_.data(), 0, bytes, stream_.get()), "a session");
  launch_.scratch = scratch_.data();
}

CudaSession::~CudaSession() {
  cudaStreamSynchronize(stream_.get());
  forget_recordings();
}

void CudaSession::forget_recordings() {
  for (const Recording& recording : recordings_) {
    if (recording.graph) cudaGraphExecDestroy(recording.graph);
  }
  recordings_.clear();
}

int64_t CudaSession::bytes_needed(int count, Size size) const {
  Workspace space;
  return space.lay_out(plan_->spec, CudaGeometry(plan_->spec, count, size), plan_->type, ends_,
                       nullptr);
}

void CudaSession::expect_memory(int, Size size) const {
  // More images than fit run in groups.
  const int64_t bytes = bytes_needed(1, size),
                there = affordable_bytes() + int64_t(memory_.bytes());
  if (bytes <= there) return;
  fail("running an image of {}x{} needs {} of the GPU's memory, and {} are free", size.height,
       size.width, format_bytes(uint64_t(bytes)), format_bytes(uint64_t(there)));
}

CudaSession::Batch CudaSession::batch_of(const InputView& input) {
  return {input.count, input.size,
          input.layout == InputLayout::kPlanes ? Entry::kPlanes : Entry::kPixels};
}

/// Images that are run at a time: as many as memory is there for and as 32 bits can number.
int CudaSession::group_size(const Batch& batch) const {
  if (batch.size.positions() > INT32_MAX / 4) {
    fail("images of {}x{} cannot be run: {} million pixels are the most; use smaller images",
         batch.size.height, batch.size.width, INT32_MAX / 4 / 1'000'000);
  }
  int most = int(std::min<int64_t>(batch.count, INT32_MAX / 4 / batch.size.positions()));
  if (plan_->stem && plan_->stem->panels) {
    const auto padded = cuda::padded_for_stem(CudaGeometry(plan_->spec, 1, batch.size).stem);
    most = std::min(most, std::max(1, cuda::kMostGatheredRows / padded.rows() * 2 - 1));
  }
  if (bytes_needed(most, batch.size) <= int64_t(memory_.bytes())) return most;
  const int64_t there = affordable_bytes() + int64_t(memory_.bytes());
  while (most > 1 && bytes_needed(most, batch.size) > there) most = (most + 1) / 2;
  const int groups = (batch.count + most - 1) / most;
  return (batch.count + groups - 1) / groups;
}

void CudaSession::prepare(int images, Size size) {
  if (geometry_.images == images && geometry_.image == size) return;
  geometry_ = {};
  const CudaGeometry geometry(plan_->spec, images, size);
  const int64_t bytes = bytes_needed(images, size);
  if (bytes > int64_t(memory_.bytes())) {
    stream_.wait();
    forget_recordings();  // of addresses that are no more
    memory_ = {};         // before more is taken
    const std::string what =
        fmt::format("running {} of {}x{}", pluralize(images, "image"), size.height, size.width);
    memory_ = DeviceMemory(size_t(bytes), what.c_str());
  }
  space_.lay_out(plan_->spec, geometry, plan_->type, ends_, memory_.data());
  if (pinned_results_.bytes() < size_t(space_.result_bytes)) {
    pinned_results_ = {};
    pinned_results_ = PinnedMemory(size_t(space_.result_bytes));
  }
  if (halting_.limits_images() && plan_->spec.adaptive()) {
    budget_.emplace(plan_->spec, size, halting_.hard_budget);
  }
  geometry_ = geometry;
  tell_dense_blocks();
}

void CudaSession::tell_dense_blocks() const {
  std::vector<int> dense;
  for (int block = 0; block < plan_->spec.blocks(); ++block) {
    if (runs_dense(block)) dense.push_back(block + 1);
  }
  if (dense.empty()) return;
  log_verbose("{} of {}x{}: too few rows for lists to pay in {} {}, which {} dense",
              pluralize(geometry_.images, "image"), geometry_.image.height, geometry_.image.width,
              dense.size() == 1 ? "block" : "blocks", fmt::join(dense, ", "),
              dense.size() == 1 ? "runs" : "run");
}

void CudaSession::reserve_pinned(size_t bytes) {
  if (pinned_input_.bytes() >= bytes) return;
  pinned_input_ = {};
  pinned_input_ = PinnedMemory(bytes);
}

std::span<float> CudaSession::input_memory(int64_t values) {
  if (values > kMostInputMemory) return {};
  reserve_pinned(size_t(values) * sizeof(float));
  return {reinterpret_cast<float*>(pinned_input_.data()), size_t(values)};
}

void CudaSession::upload(const InputView& input) {
  const size_t bytes = input.values.size_bytes();
  const auto* from = reinterpret_cast<const std::byte*>(input.values.data());
  const std::less<> before;
  if (pinned_input_.data() && !before(from, pinned_input_.data()) &&
      before(from, pinned_input_.data() + pinned_input_.bytes())) {  // see input_memory()
    expect(cudaMemcpyAsync(space_.upload, from, bytes, cudaMemcpyHostToDevice, stream_.get()),
           "the images");
    return;
  }
  reserve_pinned(bytes);
  for (size_t at = 0; at < bytes; at += kUploadPiece) {
    const size_t piece = std::min(kUploadPiece, bytes - at);
    std::memcpy(pinned_input_.data() + at, from + at, piece);
    expect(cudaMemcpyAsync(reinterpret_cast<std::byte*>(space_.upload) + at,
                           pinned_input_.data() + at, piece, cudaMemcpyHostToDevice, stream_.get()),
           "the images");
  }
}

void CudaSession::set_halting(const HaltingControl& halting) {
  if (halting.shift == halting_.shift && halting.hard_budget == halting_.hard_budget) return;
  halting_ = halting;
  budget_.reset();
  geometry_ = {};       // the budget is made with it
  forget_recordings();  // the shift is in them
}

void CudaSession::prescribe_units(std::vector<std::vector<int32_t>> units) {
  SACT_ASSERT(units.empty() || plan_->spec.adaptive());
  prescribed_ = std::move(units);
  prescribed_at_.clear();
  forget_recordings();
}

void CudaSession::check_prescribed(const Batch& batch) const {
  if (prescribed_.empty()) return;
  SACT_ASSERT(prescribed_.size() == size_t(plan_->spec.blocks()));
  for (int block = 0; block < plan_->spec.blocks(); ++block) {
    SACT_ASSERT(int64_t(prescribed_[size_t(block)].size()) ==
                batch.count * plan_->spec.block_size(block, batch.size).positions());
  }
}

/// The numbers of a group's images; their addresses stay, so that recordings can go on. On the
/// stream of the session, which waits for no other.
void CudaSession::upload_prescribed(int first_image) {
  if (prescribed_.empty()) return;
  int64_t all = 0;
  for (const cuda::GridShape& grid : geometry_.blocks) all += grid.rows();
  if (prescribed_memory_.bytes() < size_t(all) * sizeof(int32_t)) {
    forget_recordings();
    prescribed_memory_ = {};
    prescribed_memory_ = DeviceMemory(size_t(all) * sizeof(int32_t), "prescribed units");
  }
  auto* to = reinterpret_cast<int32_t*>(prescribed_memory_.data());
  prescribed_at_.clear();
  for (size_t block = 0; block < geometry_.blocks.size(); ++block) {
    const cuda::GridShape& grid = geometry_.blocks[block];
    const int32_t* from = prescribed_[block].data() + int64_t(first_image) * grid.positions();
    expect(cudaMemcpyAsync(to, from, size_t(grid.rows()) * sizeof(int32_t), cudaMemcpyHostToDevice,
                           stream_.get()),
           "prescribed units");
    prescribed_at_.push_back(to);
    to += grid.rows();
  }
}

/// That of a batch like this, which becomes the newest.
CudaSession::Recording& CudaSession::recording_of(const Batch& batch) {
  const auto known = std::find_if(recordings_.begin(), recordings_.end(),
                                  [&](const Recording& r) { return r.batch == batch; });
  if (known != recordings_.end()) {
    std::rotate(known, known + 1, recordings_.end());
  } else {
    if (recordings_.size() == kMostRecordings) {
      if (recordings_.front().graph) cudaGraphExecDestroy(recordings_.front().graph);
      recordings_.erase(recordings_.begin());
    }
    recordings_.push_back({batch, nullptr});
  }
  return recordings_.back();
}

/// Measures the shapes of tiles of all products that a batch needs, on a run whose results nobody
/// takes. What was placed by others is left as it is: a run would not find it again.
void CudaSession::tune(const Batch& batch) {
  if (!settings_.tuning || settings_.products != cuda::Products::kHopper ||
      batch.entry == Entry::kPlaced) {
    return;
  }
  tuning_ = true;
  try {
    start_network(batch.entry);
  } catch (...) {
    tuning_ = false;
    throw;
  }
  tuning_ = false;
}

/// Records what a batch needs, and leaves nothing behind.
void CudaSession::record(Recording& recording) {
  tune(recording.batch);
  // Relaxed: the first start of a kernel loads it, which other modes may forbid meanwhile.
  expect(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeRelaxed), "recording");
  cudaGraph_t graph = nullptr;
  try {
    start_network(recording.batch.entry);
  } catch (...) {
    cudaStreamEndCapture(stream_.get(), &graph);
    if (graph) cudaGraphDestroy(graph);
    throw;
  }
  expect(cudaStreamEndCapture(stream_.get(), &graph), "recording");
  const cudaError_t error = cudaGraphInstantiate(&recording.graph, graph, 0);
  cudaGraphDestroy(graph);
  expect(error, "recording");
}

/// Recording takes longer than starting, so it waits for the second batch of a size.
void CudaSession::start(const Batch& batch) {
  if (!settings_.graphs || timing_) return start_network(batch.entry);
  const bool is_new = std::none_of(recordings_.begin(), recordings_.end(),
                                   [&](const Recording& r) { return r.batch == batch; });
  Recording& recording = recording_of(batch);
  if (is_new) return start_network(batch.entry);
  if (!recording.graph) record(recording);
  expect(cudaGraphLaunch(recording.graph, stream_.get()), "the network");
}

ImageResult CudaSession::empty_result() const {
  ImageResult result;
  result.logits.resize(size_t(plan_->spec.outputs()));
  for (size_t block = 0; block < geometry_.blocks.size(); ++block) {
    const cuda::GridShape& grid = geometry_.blocks[block];
    const int units = plan_->spec.units[block];
    result.blocks.push_back({Map(grid.height, grid.width, float(units)),
                             std::vector<int32_t>(size_t(grid.positions()), units)});
  }
  return result;
}

void CudaSession::download(const Batch& batch, std::span<ImageResult> results) {
  expect(cudaMemcpyAsync(pinned_results_.data(), space_.results, size_t(space_.result_bytes),
                         cudaMemcpyDeviceToHost, stream_.get()),
         "the results");
  stream_.wait();
  const std::byte* from = pinned_results_.data();
  const size_t outputs = size_t(plan_->spec.outputs());
  if (ends_.features_stay) {
    int32_t infinite = 0;
    std::memcpy(&infinite, from + space_.logits_at, sizeof infinite);
    if (infinite) fail_not_finite();
  } else if (!plan_->head) {
    const auto* values = reinterpret_cast<const float*>(from + space_.logits_at);
    const int channels = plan_->spec.block_channels(plan_->spec.blocks() - 1);
    features_.assign(values, values + int64_t(geometry_.blocks.back().rows()) * channels);
  }
  for (size_t image = 0; image < size_t(batch.count); ++image) {
    ImageResult& result = results[image];
    result = empty_result();
    if (plan_->head) {
      const auto* logits = reinterpret_cast<const float*>(from + space_.logits_at);
      result.logits.assign(logits + image * outputs, logits + (image + 1) * outputs);
    }
    for (size_t block = 0; block < space_.ponder_at.size(); ++block) {
      const size_t positions = size_t(geometry_.blocks[block].positions());
      const auto* ponder = reinterpret_cast<const float*>(from + space_.ponder_at[block]);
      const auto* units = reinterpret_cast<const int32_t*>(from + space_.units_at[block]);
      result.blocks[block].ponder_cost.values.assign(ponder + image * positions,
                                                     ponder + (image + 1) * positions);
      result.blocks[block].units.assign(units + image * positions, units + (image + 1) * positions);
    }
  }
}

std::vector<ImageResult> CudaSession::run_groups(
    const Batch& batch, const std::function<void(int first, int count)>& enter) {
  check_prescribed(batch);
  std::vector<ImageResult> results(static_cast<size_t>(batch.count));
  const int together = group_size(batch);
  for (int first = 0; first < batch.count; first += together) {
    if (interrupted_ && interrupted_()) throw Interrupted("the run was interrupted");
    const Batch part{std::min(together, batch.count - first), batch.size, batch.entry};
    prepare(part.count, part.size);
    upload_prescribed(first);
    enter(first, part.count);
    start(part);
    download(part, std::span(results).subspan(size_t(first), size_t(part.count)));
  }
  set_flops(plan_->spec, batch.size, results);
  return results;
}

std::vector<ImageResult> CudaSession::run(const InputView& input) {
  if (plan_->stem) validate_image_size(input.size);
  SACT_ASSERT(input.complete() && !ends_.input_is_placed);
  SACT_ASSERT(input.channels == (plan_->stem ? 3 : plan_->spec.stem_channels()));
  return run_groups(batch_of(input),
                    [&](int first, int count) { upload(input.part(first, count)); });
}

std::vector<ImageResult> CudaSession::run_placed(int count, Size size, const Place& place) {
  SACT_ASSERT(ends_.input_is_placed && !plan_->stem && count > 0);
  return run_groups({count, size, Entry::kPlaced},
                    [&](int first, int number) { place(first, number, space_.streams[0]); });
}

CudaSession::DeviceFeatures CudaSession::device_features() const {
  SACT_ASSERT(ends_.features_stay && geometry_.images > 0);
  const int blocks = plan_->spec.blocks();
  return {geometry_.blocks.back(), plan_->spec.block_channels(blocks - 1), features_at()};
}

double CudaSession::time_run(const InputView& input) {
  const Batch batch = batch_of(input);
  check_prescribed(batch);
  Event begin, end;
  double ms = 0;
  const int together = group_size(batch);
  for (int first = 0; first < batch.count; first += together) {
    const Batch part{std::min(together, batch.count - first), batch.size, batch.entry};
    prepare(part.count, part.size);
    upload_prescribed(first);
    upload(input.part(first, part.count));
    if (settings_.graphs && !recording_of(part).graph) record(recording_of(part));
    start(part);  // once before, because a GPU that waited for its images has slowed down
    begin.record(stream_);
    start(part);
    end.record(stream_);
    ms += end.milliseconds_since(begin);
  }
  return ms;
}

std::vector<LayerTime> CudaSession::time_layers(const InputView& input) {
  const DeviceRates rates = measure_rates(stream_, launch_);
  timing_ = true;
  try {
    for (int turn = 0; turn < 2; ++turn) {  // the first loads kernels
      timed_.clear();
      run(input);
    }
  } catch (...) {
    timing_ = false;
    throw;
  }
  timing_ = false;
  std::vector<LayerTime> times;
  for (const TimedLayer& timed : timed_) {
    const DeviceLayer& layer = *timed.layer;
    LayerTime time{layer.name,  timed.rows,    layer.kernel * layer.kernel,
                   layer.depth, layer.columns, "registers"};
    time.seconds = timed.end.milliseconds_since(timed.begin) / 1000;
    time.bytes = timed.bytes;
    time.bytes_per_second = rates.bytes;
    if (plan_->type != cuda::Element::kFloat32) time.operations_per_second = rates.operations;
    times.push_back(std::move(time));
  }
  timed_.clear();
  return times;
}

}  // namespace sact::engine
