#include "train/classify/trainer.h"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/text.h"
#include "data/held_out.h"
#include "data/open.h"
#include "data/order.h"
#include "model/initial_weights.h"
#include "train/classify/augment.h"
#include "train/classify/run_folder.h"
#include "train/classify/training_step.h"
#include "train/loop/banner.h"
#include "train/loop/checkpoint.h"
#include "train/loop/resumed_settings.h"
#include "train/loop/run_progress.h"
#include "train/loop/run_state.h"
#include "train/loop/schedule.h"
#include "train/loop/start_weights.h"
#include "train/torch/device.h"
#include "train/torch/network_weights.h"
#include "train/torch/precision.h"
#include "train/torch/processes.h"
#include "train/torch/torch_runner.h"

namespace sact::train {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Trainer {
 public:
  explicit Trainer(const TrainOptions& options);
  TrainResult run();

 private:
  bool finished_before();
  void prepare();
  void compare_with_others();
  void prepare_network();
  void prepare_feeders();
  void introduce(const FeederOptions& feed) const;
  bool run_epoch();
  void train_step(const DeviceBatch& batch, EpochSums& sums);
  void finish_epoch(TrainResult& result);
  void look_at_losses(const EpochSums& sums);
  void checkpoint();
  int eval_side() const { return settings_.eval_size ? settings_.eval_size : settings_.size; }
  /// Images of a step in all processes together.
  int64_t step_images() const { return int64_t(settings_.batch) * processes_.size(); }

  TrainOptions options_;
  const TrainSettings& settings_;
  Processes processes_;
  torch::Device device_;
  std::unique_ptr<RunFolder> folder_;  // in the first process only
  std::unique_ptr<data::Dataset> train_set_, val_set_;
  std::unique_ptr<Feeder> train_feeder_, val_feeder_;
  Network network_{nullptr};
  std::unique_ptr<Sgd> sgd_;
  std::unique_ptr<TrainingStep> step_;
  std::unique_ptr<RunState> state_;
  std::unique_ptr<RunProgress> progress_;
  int64_t steps_per_epoch_ = 0;
  LossSums seen_;  // losses of the epoch when they were last looked at
  double seen_images_ = 0;
  bool bf16_ = false;
};

double decoded_bytes(const data::Dataset& dataset, int side) {
  return double(dataset.size()) * 3 * side * side;
}

Trainer::Trainer(const TrainOptions& options)
    : options_(options),
      settings_(options_.settings),
      processes_(Processes::from_environment(device_from_name(options.device))),
      device_(processes_.device()) {
  resume_settings(options_, processes_, /*detector=*/false, settings_from_json);
  validate(settings_);
  if (processes_.first()) folder_ = std::make_unique<RunFolder>(options.run, settings_);
}

bool Trainer::finished_before() {
  return processes_.any(folder_ && folder_->checkpoint() &&
                        folder_->checkpoint()->progression().epoch >= settings_.epochs);
}

void Trainer::prepare() {
  at::set_num_threads(processes_.threads(options_.threads));
  bf16_ = settings_.precision == "bf16";
  if (bf16_ && !device_.is_cuda()) fail("setting 'precision': bf16 needs --device cuda");
  const data::OpenOptions open{settings_.class_names, settings_.boxes};
  auto open_split = [&](const char* split) {
    return data::open_dataset(settings_.data, data::split_name(split, settings_.val_split), open);
  };
  train_set_ = open_split("train");
  val_set_ = open_split("val");
  data::check_same_classes(*train_set_, *val_set_, settings_.data);
  compare_with_others();
  steps_per_epoch_ = train_set_->size() / step_images();
  if (steps_per_epoch_ == 0) {
    fail("setting 'batch': {} images do not fill one batch of {}", train_set_->size(),
         processes_.alone()
             ? fmt::format("{}", settings_.batch)
             : fmt::format("{} in each of {} processes", settings_.batch, processes_.size()));
  }
  prepare_network();
  prepare_feeders();
  // Nothing stands in the way any more.
  if (folder_) folder_->begin(network_->spec(), state_->progression);
}

void Trainer::prepare_feeders() {
  auto storage_size = [&](const data::Dataset& dataset, int side, double crop) {
    return settings_.storage_size ? settings_.storage_size
                                  : data::suitable_storage_size(dataset, side, crop);
  };
  FeederOptions feed;
  feed.storage_size = storage_size(*train_set_, settings_.size, InputSpec().crop);
  // Evaluation sees what `sact eval` of the model would see.
  const int val_storage = storage_size(*val_set_, eval_side(), network_->spec().input.crop);
  const double bytes =
      decoded_bytes(*train_set_, feed.storage_size) + decoded_bytes(*val_set_, val_storage);
  feed.cache = settings_.cache == "memory" ||
               (settings_.cache == "auto" &&
                processes_.local_size() * bytes < 0.5 * double(available_memory()));
  feed.workers = processes_.threads(settings_.workers);
  feed.max_corrupt = settings_.max_corrupt;
  feed.device = device_;
  feed.interrupted = options_.interrupted;
  introduce(feed);  // before images are decoded, which may take a while
  train_feeder_ = std::make_unique<Feeder>(*train_set_, feed);
  feed.storage_size = val_storage;
  val_feeder_ = std::make_unique<Feeder>(*val_set_, feed);
}

void Trainer::introduce(const FeederOptions& feed) const {
  if (!folder_) return;
  RunFacts facts = facts_of(options_);
  facts.train_images = train_set_->size();
  facts.val_images = val_set_->size();
  facts.spec = network_->spec();
  facts.steps_per_epoch = steps_per_epoch_;
  facts.processes = processes_.size();
  facts.threads = at::get_num_threads();
  facts.workers = feed.workers;
  facts.images_kept = feed.cache ? "in memory" : "";
  facts.epoch = state_->progression.epoch;
  facts.step = state_->progression.step;
  for (const std::string& line : banner(facts)) log_info("{}", line);
}

/// Workers that disagree about what is trained would wait for each other, or learn nonsense.
void Trainer::compare_with_others() {
  const TrainSettings first =
      settings_from_json(processes_.broadcast(to_json(settings_)), "the settings of worker 0");
  auto differing = differences(first, settings_, /*all=*/true);
  const std::string sizes = fmt::format("{} and {} images of {} classes", train_set_->size(),
                                        val_set_->size(), train_set_->classes());
  const std::string first_sizes = processes_.broadcast(sizes);
  if (sizes != first_sizes) {
    differing.push_back(fmt::format("its data set: {} -> {}", first_sizes, sizes));
  }
  expect_same_start(processes_, differing);
}

void Trainer::prepare_network() {
  const std::vector<std::string>& classes = train_set_->class_names();
  const ModelSpec spec =
      agreed_spec(processes_, folder_ ? folder_->checkpoint() : nullptr, classes, settings_.data,
                  options_.run, [&] { return spec_of_run(settings_, classes); });
  InitialWeights initial;
  initial.seed = uint64_t(settings_.seed);
  initial.residual_scale = settings_.residual_scale;
  initial.halting_bias = settings_.halting_bias;
  initial.halting_reach = settings_.halting_reach;
  initial.halting_scale = settings_.halting_scale;
  network_ = make_network(spec, initial_weights(spec, initial));
  // All take over what the first has, and a run that goes on has what it needs in its checkpoint.
  if (folder_ && !folder_->checkpoint() && !settings_.init.empty()) {
    expect_outside_run(settings_.init, options_.run);
    const ModelFile init(settings_.init);
    expect_classifier(init);
    log_info("{}", start_from(named_tensors(*network_), spec, init));
  }
  if (device_.is_cpu()) {  // which a step takes several times
    expect_forward_memory(spec, settings_.batch, {settings_.size, settings_.size});
  }
  network_->to(device_);
  if (device_.is_cuda()) to_channels_last(*network_);
  if (settings_.sync_norms) network_->synchronise_norms(processes_);
  network_->train();
  network_->set_norm_decay(settings_.norm_decay);
  network_->set_halting_slope_floor(settings_.halting_gradient_floor);
  sgd_ = std::make_unique<Sgd>(
      network_->named_parameters(),
      SgdOptions{settings_.momentum, settings_.weight_decay, settings_.decay_norms,
                 settings_.clip_norm, settings_.halting_rate});
  StepOptions step{settings_.label_smoothing, settings_.tau, bf16_};
  // Recorded kernels cannot wait for other processes in the midst of a step.
  step.graph = settings_.cuda_graph && !settings_.sync_norms;
  step.after_backward = [this] { state_->exchange(); };
  step_ = std::make_unique<TrainingStep>(network_, *sgd_, std::move(step));
  RunStateOptions run{options_.run, to_json(settings_), spec, settings_.checkpoint_minutes};
  run.average_buffers = !settings_.sync_norms;
  run.interrupted = options_.interrupted;
  state_ = std::make_unique<RunState>(processes_, *network_, *sgd_, std::move(run));
  state_->start(folder_ ? folder_->checkpoint() : nullptr);
}

void Trainer::train_step(const DeviceBatch& batch, EpochSums& sums) {
  std::vector<Augmentation> augmentations;
  for (size_t i = 0; i < batch.indices.size(); ++i) {
    augmentations.push_back(draw_augmentation(settings_, uint64_t(settings_.seed),
                                              state_->progression.epoch, batch.indices[i],
                                              batch.aspects[i], batch.boxes[i]));
  }
  const torch::Tensor images =
      augment_batch(batch.pixels, augmentations, settings_.size, network_->spec().input);
  step_->set_tau(ponder_weight(settings_, state_->progression.step, steps_per_epoch_));
  sums.add(step_->run(images, batch.labels,
                      learning_rate(settings_, state_->progression.step, steps_per_epoch_)));
}

/// Waits for the device, which otherwise works behind: now and then only.
void Trainer::look_at_losses(const EpochSums& sums) {
  const LossSums now = sums.losses(processes_);
  if (!std::isfinite(now.loss)) state_->fail_not_finite();
  const Progression& progression = state_->progression;
  const double images = progression.images - seen_images_;
  if (images > 0 && folder_) {
    StepRecord record;
    record.step = progression.step;
    record.rate = learning_rate(settings_, progression.step - 1, steps_per_epoch_);
    record.loss = (now.loss - seen_.loss) / images;
    record.entropy = (now.entropy - seen_.entropy) / images;
    record.ponder_cost = (now.ponder - seen_.ponder) / images;
    folder_->record_steps(record);
    progress_->set_loss(record.loss);
  }
  seen_ = now;
  seen_images_ = progression.images;
}

void Trainer::checkpoint() {
  state_->checkpoint(folder_ ? folder_->checkpoint_path() : std::filesystem::path());
}

/// Returns false when it was interrupted; then a checkpoint stands at the last step.
bool Trainer::run_epoch() {
  // Every process draws the same order and takes its share of each step's images.
  auto order = data::epoch_order(train_set_->size(), uint64_t(settings_.seed),
                                 state_->progression.epoch, true);
  if (!processes_.alone()) {
    order.resize(size_t(steps_per_epoch_ * step_images()));
    order = data::training_shard(order, processes_.rank(), processes_.size());
  }
  const auto pass = train_feeder_->pass(std::move(order), settings_.batch,
                                        state_->progression.position / processes_.size(), true);
  // Sums of the part that is done already are counted once, by the first.
  EpochSums sums(processes_.first() ? state_->progression : Progression{},
                 network_->spec().blocks(), device_);
  const Progression& begin = state_->progression;
  seen_ = {begin.loss_sum, begin.entropy_sum, begin.ponder_sum, begin.correct};
  seen_images_ = begin.images;
  Progress bar(progress_->epoch_label(), steps_per_epoch_ * step_images() - begin.position,
               "images");
  auto start = Clock::now();
  state_->restart_clock();
  auto take_stock = [&] {
    look_at_losses(sums);
    sums.store(state_->progression, processes_);
    state_->progression.seconds += seconds_since(start);
    start = Clock::now();
  };
  DeviceBatch batch;
  while (pass->next(batch)) {
    train_step(batch, sums);
    state_->progression.position = batch.next_position * processes_.size();
    state_->progression.images += double(step_images());
    ++state_->progression.step;
    bar.advance(step_images());
    if (const auto line = progress_->advance(); line && folder_ && !isatty(STDERR_FILENO)) {
      log_info("{}", *line);
    }
    if (state_->stop() || state_->save()) {
      take_stock();
      checkpoint();
      if (state_->stop()) return false;
    } else if (state_->progression.step % settings_.log_every == 0) {
      look_at_losses(sums);
    }
  }
  take_stock();
  train_feeder_->corrupt().name_lost_classes(*train_set_);
  return true;
}

void Trainer::finish_epoch(TrainResult& result) {
  const int64_t epoch = ++state_->progression.epoch;
  const bool last = epoch == settings_.epochs;
  EpochRecord record;
  record.epoch = epoch;
  record.rate = learning_rate(settings_, state_->progression.step - 1, steps_per_epoch_);
  record.loss = state_->progression.loss_sum / state_->progression.images;
  record.entropy = state_->progression.entropy_sum / state_->progression.images;
  record.ponder_cost = state_->progression.ponder_sum / state_->progression.images;
  record.accuracy = state_->progression.correct / state_->progression.images;
  record.seconds = state_->progression.seconds;
  record.images_per_second = state_->progression.images / state_->progression.seconds;
  for (size_t block = 0; block < state_->progression.most_units.size(); ++block) {
    record.dead_units.push_back(network_->spec().units[block] -
                                int(std::lround(state_->progression.most_units[block])));
  }
  if (last || epoch % settings_.eval_every == 0) {
    const int side = eval_side();
    Answers answers;
    EvaluateOptions options{{side, side}, settings_.batch, bf16_};
    options.answers = &answers;
    record.evaluation = evaluate(network_, *val_feeder_, processes_, options);
    record.val_loss = answers.entropy();
    result.last = *record.evaluation;
    const bool best = record.evaluation->accuracy > state_->progression.best_accuracy;
    if (best) state_->progression.best_accuracy = record.evaluation->accuracy;
    if (folder_) {
      folder_->write_model("last", network_);
      if (best) folder_->write_model("best", network_);
      folder_->write_samples(network_, *val_set_, settings_.samples, {side, side}, device_, epoch);
      folder_->write_answers(*val_set_, answers, epoch);
    }
  }
  record.time_left = progress_->time_left();
  if (folder_) folder_->record(record, state_->progression.step);
  progress_->line_told();
  const Progression done = state_->progression;
  state_->progression = Progression{};
  state_->progression.epoch = done.epoch;
  state_->progression.step = done.step;
  state_->progression.best_accuracy = done.best_accuracy;
  state_->progression.workers = done.workers;
  checkpoint();
}

TrainResult Trainer::run() {
  const auto start = Clock::now();
  TrainResult result;
  result.first = processes_.first();
  result.settings = settings_;
  if (finished_before()) {
    result.finished = result.finished_before = true;
    if (!folder_) return result;
    const Progression done = folder_->checkpoint()->progression();
    result.epochs = done.epoch;
    result.steps = done.step;
    result.best_accuracy = done.best_accuracy;
    result.stored = folder_->stored();
    return result;
  }
  prepare();
  progress_ = std::make_unique<RunProgress>(
      RunExtent{settings_.epochs, steps_per_epoch_, step_images()}, state_->progression.step);
  bool stopped = false;
  while (state_->progression.epoch < settings_.epochs && !stopped) {
    if (run_epoch()) {
      finish_epoch(result);
      stopped =
          processes_.any(state_->interrupted()) && state_->progression.epoch < settings_.epochs;
    } else {
      stopped = true;
    }
  }
  processes_.barrier();  // none leaves while another still needs it
  result.network = network_;
  if (folder_) result.stored = folder_->stored();
  result.finished = !stopped;
  result.epochs = state_->progression.epoch;
  result.steps = state_->progression.step;
  result.best_accuracy = state_->progression.best_accuracy;
  result.seconds = seconds_since(start);
  return result;
}

/// The model that a run starts from decides about these; a value that is not the default was given
/// by the user, who then expects it to count.
void check_agrees_with_init(const TrainSettings& settings, const ModelSpec& spec) {
  const TrainSettings defaults;
  auto check = [&](const char* key, const auto& asked, const auto& usual, const auto& found) {
    if (asked == usual || asked == found) return;
    fail("setting '{}': {} was asked for, but {} has {}; leave it out, or start from another model",
         key, asked, settings.init, found);
  };
  check("stem", settings.stem, defaults.stem, name_of(spec.stem));
  check("unit", settings.unit, defaults.unit, name_of(spec.unit));
  check("width", settings.width, defaults.width, spec.width);
}

}  // namespace

TrainResult train(const TrainOptions& options) {
  return Trainer(options).run();
}

ModelSpec spec_of_run(const TrainSettings& settings, const std::vector<std::string>& class_names) {
  ModelSpec spec;
  if (!settings.init.empty()) {
    spec = ModelFile(settings.init).spec();
    check_agrees_with_init(settings, spec);
  } else {
    spec.stem = stem_from_name(settings.stem, "setting 'stem'");
    spec.unit = unit_from_name(settings.unit, "setting 'unit'");
    spec.width = settings.width;
  }
  if (settings.depth) spec.units = units_of_depth(settings.depth);
  if (!settings.units.empty()) spec.units = settings.units;
  if (settings.halting != "auto") {
    spec.halting = halting_from_name(settings.halting, "setting 'halting'");
  }
  if (settings.epsilon != 0) spec.epsilon = settings.epsilon;
  if (settings.tile != 0) spec.tile = settings.tile;
  if (settings.halting_norm != "auto") spec.halting_norm = settings.halting_norm == "true";
  spec.classes = int(class_names.size());
  spec.labels = class_names;
  spec.input.size = settings.eval_size ? settings.eval_size : settings.size;
  validate(spec, "the network of this run");
  return spec;
}

}  // namespace sact::train
