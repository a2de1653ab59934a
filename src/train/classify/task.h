// Training a classifier.
#pragma once

#include <memory>

#include "data/dataset.h"
#include "train/classify/data_loader.h"
#include "train/classify/evaluation.h"
#include "train/classify/photographs.h"
#include "train/classify/report.h"
#include "train/classify/settings.h"
#include "train/classify/step.h"
#include "train/loop/task.h"
#include "train/torch/network.h"

namespace sact::train {

class ClassifierTask : public Task {
 public:
  RunSettings& settings() override { return settings_; }
  LoopSettings loop_settings() const override;

  DataFacts open_data() override;
  ModelSpec new_spec(const std::vector<std::string>& class_names) const override;
  void make_model(const ModelSpec& spec, const std::vector<Weight>& weights,
                  torch::Device device) override;
  torch::nn::Module& module() override { return *network_; }
  torch::OrderedDict<std::string, torch::Tensor> tensors() override;
  std::string start_from(const ModelSpec& spec, const ModelFile& init) override;
  std::vector<torch::Tensor> averaged_tensors() override;
  RateSchedule schedule(int64_t steps_per_epoch) const override;
  std::string prepare(const RunContext& context) override;
  void load_data() override;

  Quantities quantities() const override { return report_->quantities(); }
  void start_epoch(int64_t epoch, std::vector<int64_t> order, int64_t first) override;
  void step(int64_t step, EpochSums& sums) override;
  void end_epoch() override;

  double evaluate() override;
  std::optional<io::RgbImage> draw_samples(int count) override;
  const char* samples_caption() const override;
  void write_evaluation(const std::filesystem::path& run, int64_t epoch) override;
  void read_evaluation(const std::filesystem::path& run, int64_t last_epoch) override;

  std::vector<std::string> log_columns() const override { return report_->log_columns(); }
  const char* score_column() const override { return "val_accuracy"; }
  EpochReport epoch_report(const EpochNumbers& numbers) override;
  report::SummaryPage page(const report::CsvColumns& log) const override {
    return report_->page(log);
  }

  /// As it stands after the run; null when that was finished before.
  Network network() const { return network_; }
  /// The last of this call.
  const EvalOutcome& last_evaluation() const { return evaluation_; }

 private:
  const TrainSettings& setting() const { return settings_.value; }
  Size eval_size() const { return {setting().eval_side(), setting().eval_side()}; }

  SettingsOf<TrainSettings> settings_;
  const RunContext* context_ = nullptr;
  std::unique_ptr<data::Dataset> train_set_, val_set_;
  LoaderPlan plan_;
  std::unique_ptr<DeviceLoader> train_loader_, val_loader_;
  Network network_{nullptr};
  std::unique_ptr<TrainingStep> step_;
  std::unique_ptr<ClassifierReport> report_;
  int64_t epoch_ = 0;
  std::unique_ptr<LoaderPass> pass_;
  DeviceBatch batch_;
  EvalOutcome evaluation_;
  Answers answers_;
};

/// The spec a run trains: from its settings, the data set's classes and the model it starts from.
ModelSpec spec_of_run(const TrainSettings& settings, const std::vector<std::string>& class_names);

}  // namespace sact::train
