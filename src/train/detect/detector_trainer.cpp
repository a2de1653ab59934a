#include "train/detect/detector_trainer.h"

#include <unistd.h>

#include <chrono>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/text.h"
#include "data/order.h"
#include "detect/examples.h"
#include "model/initial_weights.h"
#include "train/detect/detection_loss.h"
#include "train/detect/detector_evaluation.h"
#include "train/detect/detector_run_folder.h"
#include "train/detect/example_feeder.h"
#include "train/loop/banner.h"
#include "train/loop/resumed_settings.h"
#include "train/loop/run_progress.h"
#include "train/loop/run_state.h"
#include "train/loop/start_weights.h"
#include "train/torch/crop_torch.h"
#include "train/torch/device.h"
#include "train/torch/precision.h"
#include "train/torch/process_group.h"

namespace sact::train {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int64_t kSums = 1 + int64_t(kDetectionLossNames.size());  // the whole loss, and its parts

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class DetectorTrainer {
 public:
  explicit DetectorTrainer(const DetectorTrainOptions& options);
  DetectorTrainResult run();

 private:
  bool finished_before();
  void prepare();
  void compare_with_others();
  void prepare_detector();
  void introduce() const;
  bool run_epoch();
  void train_step(const std::vector<FedExample>& batch, torch::Tensor& sums);
  void take_stock(torch::Tensor& sums);
  void look_at_losses(const torch::Tensor& sums);
  void finish_epoch(DetectorTrainResult& result);
  void checkpoint();
  /// Draws of one picture in one epoch.
  Random random_of(int64_t index) const {
    return Random::derived(
        uint64_t(settings_.seed) + 0x9e37,
        uint64_t(progression().epoch) * uint64_t(train_->size()) + uint64_t(index));
  }
  double rate(int64_t step) const {
    return learning_rate(rate_schedule(settings_, steps_per_epoch_ * settings_.epochs), step);
  }
  int64_t step_images() const { return int64_t(settings_.batch) * group_.size(); }
  Progression& progression() const { return state_->progression; }

  DetectorTrainOptions options_;
  const DetectionSettings& settings_;
  ProcessGroup group_;
  torch::Device device_;
  std::unique_ptr<DetectorRunFolder> folder_;  // in the first process only
  std::unique_ptr<detect::Examples> train_, val_;
  std::unique_ptr<data::CorruptItems> train_corrupt_, val_corrupt_;
  Detector detector_{nullptr};
  std::unique_ptr<DetectorParts> parts_;
  std::unique_ptr<Sgd> sgd_;
  std::unique_ptr<RunState> state_;
  std::unique_ptr<RunProgress> progress_;
  std::vector<double> seen_;  // sums of losses when they were last looked at
  double seen_images_ = 0;
  int64_t steps_per_epoch_ = 0;
  bool bf16_ = false;
};

DetectorTrainer::DetectorTrainer(const DetectorTrainOptions& options)
    : options_(options),
      settings_(options_.settings),
      group_(ProcessGroup::from_environment(device_from_name(options.device))),
      device_(group_.device()) {
  resume_settings(options_, group_, /*detector=*/true, detection_settings_from_json);
  validate(settings_);
  if (group_.first()) folder_ = std::make_unique<DetectorRunFolder>(options.run, settings_);
}

bool DetectorTrainer::finished_before() {
  return group_.any(folder_ && folder_->checkpoint() &&
                    folder_->checkpoint()->progression().epoch >= settings_.epochs);
}

void DetectorTrainer::prepare() {
  at::set_num_threads(group_.threads(options_.threads));
  bf16_ = settings_.precision == "bf16";
  if (bf16_ && !device_.is_cuda()) fail("setting 'precision': bf16 needs --device cuda");
  train_ = detect::open_examples(settings_.data, settings_.train);
  val_ = detect::open_examples(settings_.data, settings_.val);
  if (train_->class_names() != val_->class_names()) {
    fail("{}: its splits {} and {} have different classes", settings_.data, settings_.train,
         settings_.val);
  }
  compare_with_others();
  for (auto [examples, corrupt] :
       {std::pair(train_.get(), &train_corrupt_), std::pair(val_.get(), &val_corrupt_)}) {
    *corrupt = std::make_unique<data::CorruptItems>(
        data::corrupt_limit(examples->size(), settings_.max_corrupt));
  }
  steps_per_epoch_ = train_->size() / step_images();
  if (steps_per_epoch_ == 0) {
    fail("setting 'batch': {} images do not fill one step of {}", train_->size(), step_images());
  }
  prepare_detector();
  introduce();
  if (folder_) folder_->begin(detector_->spec(), progression());
}

void DetectorTrainer::introduce() const {
  if (!folder_) return;
  RunFacts facts = facts_of(options_);
  facts.train_images = train_->size();
  facts.val_images = val_->size();
  facts.spec = detector_->spec();
  facts.steps_per_epoch = steps_per_epoch_;
  facts.processes = group_.size();
  facts.threads = at::get_num_threads();
  facts.workers = group_.threads(settings_.workers);
  facts.epoch = progression().epoch;
  facts.step = progression().step;
  for (const std::string& line : banner(facts)) log_info("{}", line);
}

void DetectorTrainer::compare_with_others() {
  const DetectionSettings first = detection_settings_from_json(group_.broadcast(to_json(settings_)),
                                                               "the settings of worker 0");
  auto differing = differences(first, settings_, /*all=*/true);
  const std::string sizes = fmt::format("{} and {} images of {} classes", train_->size(),
                                        val_->size(), train_->class_names().size());
  const std::string first_sizes = group_.broadcast(sizes);
  if (sizes != first_sizes) {
    differing.push_back(fmt::format("its data set: {} -> {}", first_sizes, sizes));
  }
  expect_same_start(group_, differing);
}

void DetectorTrainer::prepare_detector() {
  const std::vector<std::string>& classes = train_->class_names();
  const ModelSpec spec =
      agreed_spec(group_, folder_ ? folder_->checkpoint() : nullptr, classes, settings_.data,
                  options_.run, [&] { return spec_of_run(settings_, classes); });
  InitialWeights initial;
  initial.seed = uint64_t(settings_.seed);
  initial.residual_scale = settings_.residual_scale;
  initial.halting_bias = settings_.halting_bias;
  initial.halting_scale = settings_.halting_scale;
  detector_ = make_detector(spec, initial_weights(spec, initial));
  if (folder_ && !folder_->checkpoint() && !settings_.init.empty()) {
    expect_outside_run(settings_.init, options_.run);
    log_info("{}", start_from(named_tensors(*detector_), spec, ModelFile(settings_.init)));
  }
  if (device_.is_cpu()) {  // what evaluations will take must not cost an epoch first
    const DetectionSpec& detection = *spec.detection;
    expect_crop_memory(detection.proposals, spec.block_channels(spec.blocks() - 2), detection.crop);
  }
  detector_->to(device_);
  if (device_.is_cuda()) to_channels_last(*detector_);
  parts_ = std::make_unique<DetectorParts>(detector_, settings_.cuda_graph);
  sgd_ = std::make_unique<Sgd>(detector_->named_parameters(),
                               SgdOptions{settings_.momentum, settings_.weight_decay,
                                          settings_.decay_norms, settings_.clip_norm});
  RunStateOptions run{options_.run, to_json(settings_), spec, settings_.checkpoint_minutes};
  run.interrupted = options_.interrupted;
  state_ = std::make_unique<RunState>(group_, *detector_, *sgd_, std::move(run));
  state_->start(folder_ ? folder_->checkpoint() : nullptr);
}

void DetectorTrainer::train_step(const std::vector<FedExample>& batch, torch::Tensor& sums) {
  const DetectionLossOptions options{settings_.tau, settings_.anchor_batch, settings_.box_batch};
  sgd_->zero_gradients();
  for (const FedExample& example : batch) {
    torch::Tensor image = network_input(example, detector_->spec().input, device_);
    if (device_.is_cuda()) image = image.contiguous(torch::MemoryFormat::ChannelsLast);
    DetectionLoss loss;
    {
      Autocast autocast(bf16_);
      loss = detection_loss(*parts_, image, example.objects, options, random_of(example.index));
    }
    (loss.total / double(batch.size())).backward();
    sums.add_(torch::cat({loss.total.detach().view({1}), loss.parts}).to(torch::kFloat64));
  }
  state_->exchange();
  sgd_->step(rate(progression().step));
}

/// Sums of all processes since the last take_stock(), and the losses since the last look for the
/// event file. Waits for the device, which otherwise works behind: now and then only.
void DetectorTrainer::look_at_losses(const torch::Tensor& sums) {
  torch::Tensor all = sums.clone();
  group_.sum(all);
  const torch::Tensor host = all.cpu();
  const std::vector<double> now(host.data_ptr<double>(), host.data_ptr<double>() + kSums);
  if (!torch::isfinite(host).all().item<bool>()) state_->fail_not_finite();
  const double images = progression().images - seen_images_;
  if (folder_ && images > 0) {
    std::vector<double> losses;
    for (size_t i = 0; i < now.size(); ++i) losses.push_back((now[i] - seen_[i]) / images);
    folder_->record_steps(losses, rate(progression().step - 1), progression().step);
    progress_->set_loss(losses[0]);
  }
  seen_ = now;
  seen_images_ = progression().images;
}

/// Moves the sums of all processes to the record of the epoch.
void DetectorTrainer::take_stock(torch::Tensor& sums) {
  look_at_losses(sums);
  Progression& now = progression();
  now.losses.resize(size_t(kSums - 1), 0.0);
  now.loss_sum += seen_[0];
  for (size_t i = 0; i < now.losses.size(); ++i) now.losses[i] += seen_[i + 1];
  sums.zero_();
  seen_.assign(size_t(kSums), 0.0);
}

void DetectorTrainer::checkpoint() {
  state_->checkpoint(folder_ ? folder_->checkpoint_path() : std::filesystem::path());
}

/// Returns false when it was interrupted; then a checkpoint stands at the last step.
bool DetectorTrainer::run_epoch() {
  Progression& now = progression();
  auto order = data::epoch_order(train_->size(), uint64_t(settings_.seed), now.epoch, true);
  order.resize(size_t(steps_per_epoch_ * step_images()));
  order = data::training_shard(order, group_.rank(), group_.size());
  order.erase(order.begin(), order.begin() + now.position / group_.size());
  ExampleFeederOptions feed;
  feed.workers = group_.threads(settings_.workers);
  feed.flipped = [this](int64_t index) { return random_of(index).coin(settings_.flip); };
  ExampleFeeder feeder(*train_, std::move(order), *detector_->spec().detection, feed,
                       *train_corrupt_);
  Progress bar(progress_->epoch_label(), steps_per_epoch_ * step_images() - now.position, "images");
  seen_.assign(size_t(kSums), 0.0);
  seen_images_ = now.images;
  auto start = Clock::now();
  state_->restart_clock();
  torch::Tensor sums = torch::zeros({kSums}, torch::dtype(torch::kFloat64).device(device_));
  auto settle = [&] {
    take_stock(sums);
    now.seconds += seconds_since(start);
    start = Clock::now();
  };
  std::vector<FedExample> batch(static_cast<size_t>(settings_.batch));
  while (now.position < steps_per_epoch_ * step_images()) {
    for (FedExample& example : batch) SACT_ASSERT(feeder.next(example, /*replace=*/true));
    train_step(batch, sums);
    now.position += step_images();
    now.images += double(step_images());
    ++now.step;
    bar.advance(step_images());
    if (const auto line = progress_->advance(); line && folder_ && !isatty(STDERR_FILENO)) {
      log_info("{}", *line);
    }
    if (state_->stop() || state_->save()) {
      settle();
      checkpoint();
      if (state_->stop()) return false;
    } else if (now.step % settings_.log_every == 0) {
      look_at_losses(sums);
    }
  }
  settle();
  return true;
}

void DetectorTrainer::finish_epoch(DetectorTrainResult& result) {
  Progression& now = progression();
  DetectorEpoch record;
  record.epoch = ++now.epoch;
  record.rate = rate(now.step - 1);
  record.loss = now.loss_sum / now.images;
  for (double loss : now.losses) record.losses.push_back(loss / now.images);
  record.seconds = now.seconds;
  record.images_per_second = now.images / now.seconds;
  if (record.epoch == settings_.epochs || record.epoch % settings_.eval_every == 0) {
    record.evaluation = evaluate_detector(detector_, *val_, *val_corrupt_, group_,
                                          group_.threads(settings_.workers));
    result.ap = record.evaluation->metrics[detect::kAp];
    result.flops = record.evaluation->flops.mean;
    // Where there is nothing to find, any detector is the best so far.
    const bool best = now.best_accuracy < 0 || result.ap > now.best_accuracy;
    if (best) now.best_accuracy = result.ap;
    if (folder_) {
      folder_->write_model("last", detector_);
      if (best) folder_->write_model("best", detector_);
      folder_->write_samples(detector_, *val_, settings_.samples, device_, record.epoch);
    }
  }
  record.time_left = progress_->time_left();
  if (folder_) folder_->record(record, now.step);
  progress_->line_told();
  Progression next;
  next.epoch = now.epoch;
  next.step = now.step;
  next.best_accuracy = now.best_accuracy;
  next.workers = now.workers;
  now = next;
  checkpoint();
}

DetectorTrainResult DetectorTrainer::run() {
  const auto start = Clock::now();
  DetectorTrainResult result;
  result.first = group_.first();
  if (finished_before()) {
    result.finished = result.finished_before = true;
    if (!folder_) return result;
    const Progression done = folder_->checkpoint()->progression();
    result.epochs = done.epoch;
    result.steps = done.step;
    result.best_ap = done.best_accuracy;
    result.stored = folder_->stored();
    return result;
  }
  prepare();
  progress_ = std::make_unique<RunProgress>(
      RunExtent{settings_.epochs, steps_per_epoch_, step_images()}, progression().step);
  bool stopped = false;
  while (progression().epoch < settings_.epochs && !stopped) {
    if (run_epoch()) {
      finish_epoch(result);
      stopped = group_.any(state_->interrupted()) && progression().epoch < settings_.epochs;
    } else {
      stopped = true;
    }
  }
  group_.barrier();  // none leaves while another still needs it
  result.detector = detector_;
  if (folder_) result.stored = folder_->stored();
  result.finished = !stopped;
  result.epochs = progression().epoch;
  result.steps = progression().step;
  result.best_ap = progression().best_accuracy;
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace

DetectorTrainResult train_detector(const DetectorTrainOptions& options) {
  return DetectorTrainer(options).run();
}

ModelSpec spec_of_run(const DetectionSettings& settings,
                      const std::vector<std::string>& class_names) {
  ModelSpec spec;
  if (!settings.init.empty()) {
    spec = ModelFile(settings.init).spec();
  } else {
    spec.stem = stem_from_name(settings.stem, "setting 'stem'");
    spec.unit = unit_from_name(settings.unit, "setting 'unit'");
    spec.width = settings.width;
  }
  if (!settings.units.empty()) spec.units = settings.units;
  if (settings.halting != "auto") {
    spec.halting = halting_from_name(settings.halting, "setting 'halting'");
  }
  spec.classes = int(class_names.size());
  spec.labels = class_names;
  DetectionSpec detection;
  detection.shorter_side = settings.shorter_side;
  detection.anchor_sizes = settings.anchor_sizes;
  detection.anchor_ratios = settings.anchor_ratios;
  detection.proposal_channels = settings.proposal_channels;
  detection.proposals = settings.proposals;
  spec.detection = detection;
  validate(spec, "the detector of this run");
  return spec;
}

}  // namespace sact::train
