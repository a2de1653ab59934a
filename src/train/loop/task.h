// What is trained: all that the loop must be told to train a classifier, a detector or anything
// else. The loop (trainer.h) does the rest: settings of a run that goes on, processes, epochs,
// checkpoints, the run folder, interruption.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/image.h"
#include "model/initial_weights.h"
#include "model/model_file.h"
#include "report/csv.h"
#include "report/summary_page.h"
#include "train/loop/epoch_sums.h"
#include "train/loop/run_settings.h"
#include "train/loop/schedule.h"
#include "train/loop/sgd.h"
#include "train/torch/process_group.h"

namespace sact::train {

/// The settings that the loop itself obeys; every task has them.
struct LoopSettings {
  std::string data, split;  // of the validation data
  std::string init;         // model to start from; empty: fresh weights
  InitialWeights initial;   // with the seed of the run
  std::string precision;
  int64_t epochs = 0, batch = 0, log_every = 0, eval_every = 0;
  int samples = 0, workers = 0;
  double checkpoint_minutes = 0;
  SgdOptions sgd;
  /// Whether the model's buffers (moving averages) differ between processes and are averaged.
  bool average_buffers = false;
};

/// Those that have the same name in every struct of settings.
template <typename Settings>
LoopSettings loop_settings(const Settings& settings) {
  LoopSettings loop;
  loop.data = settings.data;
  loop.init = settings.init;
  loop.initial.seed = uint64_t(settings.seed);
  loop.initial.residual_scale = settings.residual_scale;
  loop.initial.halting_bias = settings.halting_bias;
  loop.initial.halting_scale = settings.halting_scale;
  loop.precision = settings.precision;
  loop.epochs = settings.epochs;
  loop.batch = settings.batch;
  loop.log_every = settings.log_every;
  loop.eval_every = settings.eval_every;
  loop.samples = settings.samples;
  loop.workers = settings.workers;
  loop.checkpoint_minutes = settings.checkpoint_minutes;
  loop.sgd.momentum = settings.momentum;
  loop.sgd.weight_decay = settings.weight_decay;
  loop.sgd.decay_norms = settings.decay_norms;
  loop.sgd.clip_norm = settings.clip_norm;
  return loop;
}

struct DataFacts {
  int64_t train_samples = 0, val_samples = 0;
  std::vector<std::string> class_names;
};

/// Where a run takes place.
struct RunContext {
  ProcessGroup& group;
  torch::Device device;
  bool bf16 = false;
  int workers = 1;  // threads of this process that decode
  int64_t steps_per_epoch = 0;
  std::function<bool()> interrupted = {};
};

/// What a step adds to EpochSums.
struct Quantities {
  /// Of every sum, the loss first, the name under which its mean over some steps goes to the event
  /// file; empty: it does not.
  std::vector<std::string> sums;
  size_t maxima = 0;
};

/// An epoch that is done.
struct EpochNumbers {
  int64_t epoch = 0;  // from 1
  double rate = 0, seconds = 0, images_per_second = 0;
  std::vector<double> means;  // of the sums, over samples
  std::vector<double> maxima;
  bool evaluated = false;

  double loss() const { return means.front(); }
};

/// What is told of an epoch.
struct EpochReport {
  std::vector<double> row;  // of the log, as log_columns(); NaN where there is no number
  std::vector<std::pair<std::string, double>> scalars;  // of the event file
  std::string line;                                     // goes on after "epoch 1/2: loss 0.1234"
  std::string note, warning;                            // lines of their own; may be empty
};

/// The loop calls the members about in the order in which they stand here; those from start_epoch()
/// on again for every epoch. What only describes (log_columns(), read_evaluation()) is asked
/// earlier.
class Task {
 public:
  virtual ~Task() = default;

  virtual RunSettings& settings() = 0;
  virtual LoopSettings loop_settings() const = 0;
  virtual bool trains_detectors() const { return false; }

  // Data and model. Every mistake of the user should show here, before there is a run folder.

  virtual DataFacts open_data() = 0;
  /// Of a new run.
  virtual ModelSpec new_spec(const std::vector<std::string>& class_names) const = 0;
  /// On the CPU. `device` is where it will be.
  virtual void make_model(const ModelSpec& spec, const std::vector<Weight>& weights,
                          torch::Device device) = 0;
  virtual torch::nn::Module& module() = 0;
  /// Parameters and buffers by the names of weight_list().
  virtual torch::OrderedDict<std::string, torch::Tensor> tensors() = 0;
  /// Throws sact::Error when a run cannot start from such a model.
  virtual void check_init(const ModelFile&) const {}
  virtual RateSchedule schedule(int64_t steps_per_epoch) const = 0;
  /// Makes what steps need. The model is on its device and has its weights; the context lives as
  /// long as the run. Returns where images are kept ("in memory"), if anywhere.
  virtual std::string prepare(const RunContext& context) = 0;
  /// May take a while.
  virtual void load_data() {}

  // Steps.

  virtual Quantities quantities() const = 0;
  /// `order` has the samples of this process, of which those before `first` are done.
  virtual void start_epoch(int64_t epoch, std::vector<int64_t> order, int64_t first) = 0;
  /// Forward and backward of the next batch: leaves the gradients, which were cleared.
  virtual void step(int64_t step, EpochSums& sums) = 0;
  virtual void end_epoch() {}

  // Evaluation. All processes take part in evaluate(); the first alone is asked for the rest.

  /// The higher the better. Below 0: there was nothing to evaluate.
  virtual double evaluate() = 0;
  /// Pictures of some validation images.
  virtual std::optional<io::RgbImage> draw_samples(int count) = 0;
  virtual const char* samples_caption() const = 0;
  /// Files of its own about the last evaluation.
  virtual void write_evaluation(const std::filesystem::path&, int64_t /*epoch*/) {}
  /// Reads them when a run goes on, if they are not of later epochs.
  virtual void read_evaluation(const std::filesystem::path&, int64_t /*last_epoch*/) {}

  // Reports.

  /// The first is "epoch"; "flops" is among them.
  virtual std::vector<std::string> log_columns() const = 0;
  /// The column with what evaluate() gives.
  virtual const char* score_column() const = 0;
  virtual EpochReport epoch_report(const EpochNumbers& numbers) = 0;
  /// The loop adds title, subtitle, epochs, settings and samples.
  virtual report::SummaryPage page(const report::CsvColumns& log) const = 0;
};

}  // namespace sact::train
