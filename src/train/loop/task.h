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
#include "train/loop/common_settings.h"
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
};

/// Those that every training has; `data` is what it trains on.
LoopSettings loop_settings(const CommonSettings& settings, const std::string& data);
/// With those of fresh weights.
LoopSettings loop_settings(const CommonSettings& settings, const NewNetworkSettings& network);

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
  /// Starts the model, of that spec, from another, and returns a line that says what was taken.
  /// Throws sact::Error when a run cannot start from it.
  virtual std::string start_from(const ModelSpec& spec, const ModelFile& init);
  /// What beside the gradients differs between processes and is averaged after every step.
  virtual std::vector<torch::Tensor> averaged_tensors() { return {}; }
  virtual RateSchedule schedule(int64_t steps_per_epoch) const = 0;
  /// Makes what steps need. The model is on its device and has its weights; the context lives as
  /// long as the run. Returns where images are kept ("in memory"), if anywhere.
  virtual std::string prepare(const RunContext& context) = 0;
  /// May take a while.
  virtual void load_data() {}
  /// Before the first step of this call, in all processes. `fresh`: it is the first of the run.
  /// May take a while. Returns scalars for the event file.
  virtual std::vector<std::pair<std::string, double>> begin(bool /*fresh*/) { return {}; }

  // Steps.

  virtual Quantities quantities() const = 0;
  /// The order in which an epoch takes samples, of which each step of all processes takes `images`.
  /// `order` is shuffled. Every process is asked and must give the same.
  virtual std::vector<int64_t> arrange(std::vector<int64_t> order, int64_t /*epoch*/,
                                       int64_t /*images*/) {
    return order;
  }
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
  /// The column with what evaluate() gives, which tells the best model.
  virtual const char* score_column() const = 0;
  /// The column that the user is told of the best and the last.
  virtual const char* told_column() const { return score_column(); }
  virtual EpochReport epoch_report(const EpochNumbers& numbers) = 0;
  /// The loop adds title, subtitle, epochs, settings and samples.
  virtual report::SummaryPage page(const report::CsvColumns& log) const = 0;
};

}  // namespace sact::train
