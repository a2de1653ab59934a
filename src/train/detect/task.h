// Training a detector.
#pragma once

#include <memory>

#include "data/corrupt_samples.h"
#include "detect/detection_dataset.h"
#include "train/detect/batches.h"
#include "train/detect/data_loader.h"
#include "train/detect/evaluation.h"
#include "train/detect/report.h"
#include "train/detect/settings.h"
#include "train/loop/task.h"
#include "train/torch/detector_parts.h"
#include "train/torch/steering.h"

namespace sact::train {

/// All that a checkpoint holds.
class DetectorModuleImpl : public torch::nn::Module {
 public:
  DetectorModuleImpl(Detector of, const SteeringOptions& of_extractor,
                     const SteeringOptions& of_head)
      : detector(register_module("detector", std::move(of))),
        steering(register_module("steering", Steering(of_extractor))),
        head_steering(register_module("head_steering", Steering(of_head))) {}

  Detector detector;
  Steering steering, head_steering;
};
TORCH_MODULE(DetectorModule);

class DetectorTask : public Task {
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
  std::vector<std::pair<std::string, double>> begin(bool fresh) override;

  Quantities quantities() const override { return report_->quantities(); }
  std::vector<int64_t> arrange(std::vector<int64_t> order, int64_t epoch, int64_t images) override;
  void start_epoch(int64_t epoch, std::vector<int64_t> order, int64_t first) override;
  void step(int64_t step, EpochSums& sums) override;
  void end_epoch() override { loader_.reset(); }

  const Detector& detector() const { return detector_; }

  double evaluate() override;
  std::optional<io::RgbImage> draw_samples(int count) override;
  const char* samples_caption() const override { return "ponder cost over validation images"; }

  std::vector<std::string> log_columns() const override { return report_->log_columns(); }
  const char* score_column() const override { return "AP"; }
  EpochReport epoch_report(const EpochNumbers& numbers) override;
  report::SummaryPage page(const report::CsvColumns& log) const override {
    return report_->page(log);
  }

 private:
  const DetectionSettings& setting() const { return settings_.value; }
  /// Draws of one picture in this epoch.
  Random random_of(int64_t index) const;
  bool learns(const ModelSpec& spec, const WeightInfo& weight) const;
  void expect_steepness(const ModelFile& init) const;
  void steer(Steering& steering, double budget, double tau, int64_t step) const;

  SettingsOf<DetectionSettings> settings_;
  const RunContext* context_ = nullptr;
  std::unique_ptr<detect::DetectionDataset> train_, val_;
  std::unique_ptr<data::CorruptSamples> train_corrupt_, val_corrupt_;
  DetectorModule module_{nullptr};
  Detector detector_{nullptr};   // of the module
  bool measures_norms_ = false;  // those of halting scores, which have no statistics yet
  std::unique_ptr<DetectorParts> parts_;
  std::unique_ptr<DetectorReport> report_;
  int64_t epoch_ = 0;
  std::unique_ptr<StoredPictures> pictures_;
  std::unique_ptr<DetectionBatchLoader> loader_;
  DetectorOutcome evaluation_;
};

/// The spec a run trains: from its settings, the classes of its data and the model it starts from.
ModelSpec spec_of_run(const DetectionSettings& settings,
                      const std::vector<std::string>& class_names);

}  // namespace sact::train
