// Making a dense network adaptive: it is taught by itself, on photographs without labels.
#pragma once

#include <memory>

#include "data/dataset.h"
#include "model/model_file.h"
#include "train/adapt/report.h"
#include "train/adapt/settings.h"
#include "train/adapt/step.h"
#include "train/classify/data_loader.h"
#include "train/classify/photographs.h"
#include "train/loop/task.h"
#include "train/torch/network.h"
#include "train/torch/steering.h"

namespace sact::train {

/// All that a checkpoint holds.
class AdaptModuleImpl : public torch::nn::Module {
 public:
  AdaptModuleImpl(Network network, const SteeringOptions& options)
      : student(register_module("network", std::move(network))),
        steering(register_module("steering", Steering(options))) {}

  Network student;
  Steering steering;
};
TORCH_MODULE(AdaptModule);

class AdaptTask : public Task {
 public:
  RunSettings& settings() override { return settings_; }
  LoopSettings loop_settings() const override;

  DataFacts open_data() override;
  ModelSpec new_spec(const std::vector<std::string>& class_names) const override;
  void make_model(const ModelSpec& spec, const std::vector<Weight>& weights,
                  torch::Device device) override;
  torch::nn::Module& module() override { return *module_; }
  torch::OrderedDict<std::string, torch::Tensor> tensors() override;
  std::string start_from(const ModelSpec& spec, const ModelFile& init) override;
  std::vector<torch::Tensor> averaged_tensors() override;
  RateSchedule schedule(int64_t steps_per_epoch) const override;
  std::string prepare(const RunContext& context) override;
  void load_data() override;
  std::vector<std::pair<std::string, double>> begin(bool fresh) override;

  Quantities quantities() const override { return report_->quantities(); }
  void start_epoch(int64_t epoch, std::vector<int64_t> order, int64_t first) override;
  void step(int64_t step, EpochSums& sums) override;
  void end_epoch() override;

  double evaluate() override;
  std::optional<io::RgbImage> draw_samples(int count) override;
  const char* samples_caption() const override;

  std::vector<std::string> log_columns() const override { return report_->log_columns(); }
  const char* score_column() const override { return "score"; }
  const char* told_column() const override { return "val_agreement"; }
  EpochReport epoch_report(const EpochNumbers& numbers) override;
  report::SummaryPage page(const report::CsvColumns& log) const override {
    return report_->page(log);
  }

  /// As it stands after the run; null when that was finished before.
  Network network() const { return module_ ? module_->student : nullptr; }
  /// The first of a fresh run, before any step, or the last.
  const AdaptEvaluation& last_evaluation() const { return evaluation_; }

 private:
  const AdaptSettings& setting() const { return settings_.value; }
  const ModelSpec& spec() const { return module_->student->spec(); }
  /// Sides of the images that the network sees.
  int side() const { return setting().size ? setting().size : dense_->spec().input.size; }
  Size eval_size() const { return {spec().input.size, spec().input.size}; }
  bool learns(const std::string& parameter) const;
  void measure_norms();
  AdaptEvaluation compare();
  double accuracy_of(Network network);
  void set_tau(int64_t step);
  bool hard() const { return setting().scores == "hard"; }
  torch::Tensor noise(int64_t step, int64_t images) const;
  double budget_at(int64_t step) const;

  SettingsOf<AdaptSettings> settings_;
  const RunContext* context_ = nullptr;
  std::unique_ptr<ModelFile> dense_;
  std::unique_ptr<data::Dataset> train_set_, val_set_, labelled_set_;
  LoaderPlan plan_;
  std::unique_ptr<DeviceLoader> train_loader_, val_loader_, labelled_loader_;
  AdaptModule module_{nullptr};
  Network teacher_{nullptr};
  std::unique_ptr<AdaptStep> step_;
  double full_share_ = 1;   // of the dense FLOPs, where nothing halts
  double first_share_ = 1;  // at the start of the run
  std::unique_ptr<AdaptReport> report_;
  int64_t epoch_ = 0;
  std::unique_ptr<LoaderPass> pass_;
  DeviceBatch batch_;
  AdaptEvaluation evaluation_;
};

}  // namespace sact::train
