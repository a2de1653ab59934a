#include "train/loop/trainer.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/text.h"
#include "data/order.h"
#include "train/loop/banner.h"
#include "train/loop/given_settings.h"
#include "train/loop/run_directory.h"
#include "train/loop/run_log.h"
#include "train/loop/run_progress.h"
#include "train/loop/run_state.h"
#include "train/loop/start_weights.h"
#include "train/torch/device.h"
#include "train/torch/network_weights.h"
#include "train/torch/precision.h"

namespace sact::train {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Trainer {
 public:
  Trainer(Task& task, const TrainRequest& request);
  TrainOutcome run();

 private:
  bool finished_before();
  void prepare();
  void compare_with_others();
  void prepare_model();
  void introduce(const std::string& images_kept) const;
  bool run_epoch();
  std::vector<int64_t> epoch_order() const;
  void train_step(EpochSums& sums);
  void look_at_losses(const EpochSums& sums);
  void take_stock(const EpochSums& sums, Clock::time_point& start);
  void finish_epoch();
  void evaluate(int64_t epoch);
  void record(const EpochNumbers& numbers);
  void checkpoint();
  TrainOutcome outcome() const;

  const Checkpoint* stored() const { return directory_ ? directory_->checkpoint() : nullptr; }
  Progression& progression() const { return state_->progression; }
  double rate(int64_t step) const { return learning_rate(schedule_, step); }
  /// Images of a step, or of an epoch, in all processes together.
  int64_t step_images() const { return settings_.batch * group_.size(); }
  int64_t epoch_images() const { return steps_per_epoch_ * step_images(); }

  Task& task_;
  const TrainRequest& request_;
  ProcessGroup group_;
  std::unique_ptr<RunDirectory> directory_;  // in the first process only
  LoopSettings settings_;
  DataFacts data_;
  ModelSpec spec_;
  Quantities quantities_;
  RateSchedule schedule_;
  std::unique_ptr<RunContext> context_;
  std::unique_ptr<Sgd> sgd_;
  std::unique_ptr<RunState> state_;
  std::unique_ptr<RunProgress> progress_;
  int64_t steps_per_epoch_ = 0;
  std::vector<double> seen_;  // sums of the epoch when they were last looked at
  double seen_images_ = 0;
};

ProcessGroup join_group(Task& task, const TrainRequest& request) {
  give_settings(task.settings(), request);  // mistakes in it need no other process to be seen
  return ProcessGroup::from_environment(device_from_name(request.device));
}

Trainer::Trainer(Task& task, const TrainRequest& request)
    : task_(task), request_(request), group_(join_group(task, request)) {
  resume_settings(task_, request, group_);
  task_.settings().check();
  settings_ = task_.loop_settings();
  if (group_.first()) {
    directory_ = std::make_unique<RunDirectory>(request.run, task_.settings());
  }
}

bool Trainer::finished_before() {
  return group_.any(stored() && stored()->progression().epoch >= settings_.epochs);
}

void Trainer::prepare() {
  set_torch_threads(group_.threads(request_.threads));
  const bool bf16 = settings_.precision == "bf16";
  if (bf16 && !group_.device().is_cuda()) fail("setting 'precision': bf16 needs the device 'cuda'");
  data_ = task_.open_data();
  compare_with_others();
  steps_per_epoch_ = data_.train_samples / step_images();
  if (steps_per_epoch_ == 0) {
    fail("setting 'batch': {} images do not fill one batch of {}; give batch={} or less",
         data_.train_samples,
         group_.alone() ? fmt::format("{}", settings_.batch)
                        : fmt::format("{} in each of {} processes", settings_.batch, group_.size()),
         std::max<int64_t>(data_.train_samples / group_.size(), 1));
  }
  context_ = std::make_unique<RunContext>(RunContext{group_, group_.device(), bf16,
                                                     group_.threads(settings_.workers),
                                                     steps_per_epoch_, request_.interrupted});
  prepare_model();
  introduce(task_.prepare(*context_));
  task_.load_data();
  const auto scalars = task_.begin(progression().step == 0);
  // Nothing stands in the way any more.
  quantities_ = task_.quantities();
  if (!directory_) return;
  directory_->begin(task_.log_columns(), progression());
  for (const auto& [tag, value] : scalars) {
    directory_->events().add_scalar(tag, value, progression().step);
  }
  task_.read_evaluation(directory_->path(), progression().epoch);
}

/// Workers that disagree about what is trained would wait for each other, or learn nonsense.
void Trainer::compare_with_others() {
  const RunSettings& settings = task_.settings();
  auto differing = settings.changes_since(group_.broadcast(settings.json()),
                                          "the settings of worker 0", /*all=*/true);
  const std::string sizes = fmt::format("{} and {} images of {} classes", data_.train_samples,
                                        data_.val_samples, data_.class_names.size());
  const std::string first_sizes = group_.broadcast(sizes);
  if (sizes != first_sizes) {
    differing.push_back(fmt::format("its data set: {} -> {}", first_sizes, sizes));
  }
  expect_same_start(group_, differing);
}

void Trainer::prepare_model() {
  spec_ = agreed_spec(group_, stored(), data_.class_names, settings_.data, request_.run,
                      [&] { return task_.new_spec(data_.class_names); });
  task_.make_model(spec_, initial_weights(spec_, settings_.initial), context_->device);
  // All take over what the first has, and a run that goes on has what it needs in its checkpoint.
  if (directory_ && !stored() && !settings_.init.empty()) {
    expect_outside_run(settings_.init, request_.run);
    const ModelFile init(settings_.init);
    log_info("{}", task_.start_from(spec_, init));
  }
  torch::nn::Module& module = task_.module();
  module.to(context_->device);
  if (context_->device.is_cuda()) to_channels_last(module);
  schedule_ = task_.schedule(steps_per_epoch_);
  sgd_ = std::make_unique<Sgd>(module.named_parameters(), settings_.sgd);
  RunStateOptions run{request_.run, task_.settings().json(), spec_, settings_.checkpoint_minutes};
  run.command = task_.settings().command();
  run.averaged = task_.averaged_tensors();
  run.interrupted = request_.interrupted;
  state_ = std::make_unique<RunState>(group_, module, *sgd_, std::move(run));
  state_->start(stored());
}

void Trainer::introduce(const std::string& images_kept) const {
  if (!directory_) return;
  RunFacts facts;
  facts.run = request_.run;
  facts.data = settings_.data;
  facts.train_images = data_.train_samples;
  facts.val_images = data_.val_samples;
  facts.spec = spec_;
  facts.init = settings_.init;
  facts.seed = int64_t(settings_.initial.seed);
  facts.epochs = settings_.epochs;
  facts.steps_per_epoch = steps_per_epoch_;
  facts.batch = settings_.batch;
  facts.device = request_.device;
  facts.precision = settings_.precision;
  facts.processes = group_.size();
  facts.threads = at::get_num_threads();
  facts.workers = context_->workers;
  facts.images_kept = images_kept;
  facts.epoch = progression().epoch;
  facts.step = progression().step;
  for (const std::string& line : banner(facts)) log_info("{}", line);
}

/// Every process draws the same order and takes its share of each step's images.
std::vector<int64_t> Trainer::epoch_order() const {
  auto order = data::epoch_order(data_.train_samples, settings_.initial.seed, progression().epoch,
                                 /*shuffle=*/true);
  order.resize(size_t(epoch_images()));
  order = task_.arrange(std::move(order), progression().epoch, step_images());
  if (group_.alone()) return order;
  return data::training_shard(order, group_.rank(), group_.size());
}

void Trainer::train_step(EpochSums& sums) {
  Progression& now = progression();
  sgd_->zero_gradients();
  task_.step(now.step, sums);
  state_->exchange();
  sgd_->step(rate(now.step), now.step);
  now.position += step_images();
  now.images += double(step_images());
  ++now.step;
}

/// Waits for the device, which otherwise works behind: now and then only.
void Trainer::look_at_losses(const EpochSums& sums) {
  const std::vector<double> found = sums.sums(group_);
  if (!std::all_of(found.begin(), found.end(), [](double sum) { return std::isfinite(sum); })) {
    state_->fail_not_finite();
  }
  const Progression& now = progression();
  const double images = now.images - seen_images_;
  if (images > 0 && directory_) {
    report::EventWriter& events = directory_->events();
    for (size_t i = 0; i < found.size(); ++i) {
      if (quantities_.sums[i].empty()) continue;
      events.add_scalar("step/" + quantities_.sums[i], (found[i] - seen_[i]) / images, now.step);
    }
    events.add_scalar("step/rate", rate(now.step - 1), now.step);
    events.flush();
    progress_->set_loss((found[0] - seen_[0]) / images);
  }
  seen_ = found;
  seen_images_ = now.images;
}

/// Brings the progression up to date.
void Trainer::take_stock(const EpochSums& sums, Clock::time_point& start) {
  look_at_losses(sums);
  progression().sums = seen_;
  progression().maxima = sums.maxima(group_);
  progression().seconds += seconds_since(start);
  start = Clock::now();
}

void Trainer::checkpoint() {
  state_->checkpoint(directory_ ? directory_->checkpoint_path() : std::filesystem::path());
}

/// Returns false when it was interrupted; then a checkpoint stands at the last step.
bool Trainer::run_epoch() {
  Progression& now = progression();
  task_.start_epoch(now.epoch, epoch_order(), now.position / group_.size());
  // Sums of the part that is done already are counted once, by the first.
  EpochSums sums(group_.first() ? now : Progression{}, quantities_.sums.size(), quantities_.maxima,
                 context_->device);
  seen_ = now.sums;
  seen_.resize(quantities_.sums.size(), 0.0);
  seen_images_ = now.images;
  Progress bar(progress_->epoch_label(), epoch_images() - now.position, "images");
  auto start = Clock::now();
  state_->restart_clock();
  while (now.position < epoch_images()) {
    train_step(sums);
    const auto line = progress_->advance();
    if (line && directory_ && !isatty(STDERR_FILENO)) log_info("{}", *line);
    bar.set_label(progress_->epoch_label());
    bar.advance(step_images());
    if (state_->stop() || state_->save()) {
      take_stock(sums, start);
      checkpoint();
      if (state_->stop()) return false;
    } else if (now.step % settings_.log_every == 0) {
      look_at_losses(sums);
    }
  }
  take_stock(sums, start);
  task_.end_epoch();
  return true;
}

void Trainer::evaluate(int64_t epoch) {
  double& best = progression().best_score;
  const double score = task_.evaluate();
  // Where there is nothing to evaluate, any model is the best so far.
  const bool is_best = best < 0 || score > best;
  if (is_best) best = score;
  if (!directory_) return;
  const std::vector<Weight> weights = weights_of(task_.tensors(), spec_);
  directory_->write_model("last", spec_, weights);
  if (is_best) directory_->write_model("best", spec_, weights);
  if (const auto sheet = task_.draw_samples(settings_.samples)) {
    directory_->write_samples(*sheet, "ponder maps", epoch);
  }
  task_.write_evaluation(directory_->path(), epoch);
}

/// Adds the epoch to log, event file, curves and summary, and prints its line.
void Trainer::record(const EpochNumbers& numbers) {
  const EpochReport told = task_.epoch_report(numbers);
  directory_->append(told.row);
  report::EventWriter& events = directory_->events();
  for (const auto& [tag, value] : told.scalars) {
    events.add_scalar(tag, value, progression().step);
  }
  log_info("epoch {}/{}: loss {:.4f}{}{}", numbers.epoch, settings_.epochs, numbers.loss(),
           told.line, progress_->time_left());
  if (!told.note.empty()) log_info("{}", told.note);
  if (!told.warning.empty()) log_warning("{}", told.warning);
  events.flush();
  const report::CsvColumns log = directory_->log();
  report::SummaryPage page = task_.page(log);
  page.subtitle = fmt::format("{} {} with units {} on {}", name_of(spec_.halting),
                              spec_.detection ? "detector" : "network", fmt::join(spec_.units, ","),
                              settings_.data);
  const std::string epochs = fmt::format("{:.0f} of {}", last_of(log, "epoch"), settings_.epochs);
  page.facts.insert(page.facts.begin(), report::Fact{"epochs", epochs});
  directory_->write_summary(std::move(page), task_.samples_caption());
}

void Trainer::finish_epoch() {
  Progression& now = progression();
  EpochNumbers numbers;
  numbers.epoch = ++now.epoch;
  numbers.rate = rate(now.step - 1);
  numbers.seconds = now.seconds;
  numbers.images_per_second = now.images / now.seconds;
  for (const double sum : now.sums) numbers.means.push_back(sum / now.images);
  numbers.maxima = now.maxima;
  numbers.evaluated =
      numbers.epoch == settings_.epochs || numbers.epoch % settings_.eval_every == 0;
  if (numbers.evaluated) evaluate(numbers.epoch);
  if (directory_) record(numbers);
  progress_->line_told();
  now = now.next_epoch();
  checkpoint();
}

TrainOutcome Trainer::outcome() const {
  TrainOutcome outcome;
  outcome.first = group_.first();
  outcome.score = outcome.best_score = outcome.flops = kNone;
  outcome.data = settings_.data;
  outcome.split = settings_.split;
  if (!directory_ || !directory_->has_log()) return outcome;
  const report::CsvColumns log = directory_->log();
  const std::string told = task_.told_column();
  const auto rows = best_and_last(log, task_.score_column());
  if (rows) outcome.best_score = value_in(log, told, rows->best);
  outcome.score = last_of(log, told);
  outcome.flops = last_of(log, "flops");
  return outcome;
}

TrainOutcome Trainer::run() {
  const auto start = Clock::now();
  if (finished_before()) {
    TrainOutcome before = outcome();
    before.finished = before.finished_before = true;
    if (!stored()) return before;
    const Progression done = stored()->progression();
    before.epochs = done.epoch;
    before.steps = done.step;
    return before;
  }
  prepare();
  progress_ = std::make_unique<RunProgress>(
      RunExtent{settings_.epochs, steps_per_epoch_, step_images()}, progression().step);
  bool stopped = false;
  while (progression().epoch < settings_.epochs && !stopped) {
    if (run_epoch()) {
      finish_epoch();
      stopped = group_.any(state_->interrupted()) && progression().epoch < settings_.epochs;
    } else {
      stopped = true;
    }
  }
  group_.barrier();  // none leaves while another still needs it
  TrainOutcome now = outcome();
  now.finished = !stopped;
  now.epochs = progression().epoch;
  now.steps = progression().step;
  now.seconds = seconds_since(start);
  return now;
}

}  // namespace

TrainOutcome run_training(Task& task, const TrainRequest& request) {
  return Trainer(task, request).run();
}

}  // namespace sact::train
