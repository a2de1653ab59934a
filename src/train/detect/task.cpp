#include "train/detect/task.h"

#include "base/error.h"
#include "base/text.h"
#include "report/ponder_sheet.h"
#include "train/detect/loss.h"
#include "train/torch/crop_torch.h"
#include "train/torch/precision.h"

namespace sact::train {
namespace {

io::RgbImage image_of(const torch::Tensor& pixels) {
  io::RgbImage image(int(pixels.size(2)), int(pixels.size(1)));
  const torch::Tensor rows = pixels.round().to(torch::kUInt8).permute({1, 2, 0}).contiguous();
  std::copy_n(rows.data_ptr<uint8_t>(), image.rgb.size(), image.rgb.begin());
  return image;
}

}  // namespace

LoopSettings DetectorTask::loop_settings() const {
  LoopSettings loop = train::loop_settings(setting(), setting());
  loop.split = setting().val;
  return loop;
}

DataFacts DetectorTask::open_data() {
  train_ = detect::open_detection_dataset(setting().data, setting().train);
  val_ = detect::open_detection_dataset(setting().data, setting().val);
  if (train_->class_names() != val_->class_names()) {
    fail("{}: its splits {} and {} have different classes", setting().data, setting().train,
         setting().val);
  }
  for (auto [dataset, corrupt] :
       {std::pair(train_.get(), &train_corrupt_), std::pair(val_.get(), &val_corrupt_)}) {
    *corrupt = std::make_unique<data::CorruptSamples>(
        data::corrupt_limit(dataset->size(), setting().max_corrupt));
  }
  return {train_->size(), val_->size(), train_->class_names()};
}

ModelSpec DetectorTask::new_spec(const std::vector<std::string>& class_names) const {
  return spec_of_run(setting(), class_names);
}

void DetectorTask::make_model(const ModelSpec& spec, const std::vector<Weight>& weights,
                              torch::Device device) {
  if (device.is_cpu()) {  // what evaluations will take must not cost an epoch first
    const DetectionSpec& detection = *spec.detection;
    expect_crop_memory(detection.proposals, spec.block_channels(spec.blocks() - 2), detection.crop);
  }
  detector_ = make_detector(spec, weights);
  report_ = std::make_unique<DetectorReport>(spec);
}

torch::OrderedDict<std::string, torch::Tensor> DetectorTask::tensors() {
  return named_tensors(*detector_);
}

RateSchedule DetectorTask::schedule(int64_t steps_per_epoch) const {
  return rate_schedule(setting(), steps_per_epoch * setting().epochs);
}

std::string DetectorTask::prepare(const RunContext& context) {
  context_ = &context;
  parts_ = std::make_unique<DetectorParts>(detector_, setting().cuda_graph);
  return {};
}

Random DetectorTask::random_of(int64_t index) const {
  return Random::derived(uint64_t(setting().seed) + 0x9e37,
                         uint64_t(epoch_) * uint64_t(train_->size()) + uint64_t(index));
}

void DetectorTask::start_epoch(int64_t epoch, std::vector<int64_t> order, int64_t first) {
  epoch_ = epoch;
  order.erase(order.begin(), order.begin() + first);
  SampleLoaderOptions options;
  options.workers = context_->workers;
  options.flipped = [this](int64_t index) { return random_of(index).coin(setting().flip); };
  loader_ = std::make_unique<SampleLoader>(*train_, std::move(order), *detector_->spec().detection,
                                           options, *train_corrupt_);
}

void DetectorTask::step(int64_t, EpochSums& sums) {
  const DetectionLossOptions options{setting().tau, setting().anchor_batch, setting().box_batch};
  DetectionSample sample;
  for (int i = 0; i < setting().batch; ++i) {
    SACT_ASSERT(loader_->next(sample, /*replace=*/true));
    torch::Tensor image = network_input(sample, detector_->spec().input, context_->device);
    if (image.is_cuda()) image = image.contiguous(torch::MemoryFormat::ChannelsLast);
    DetectionLoss loss;
    {
      Autocast autocast(context_->bf16);
      loss = detection_loss(*parts_, image, sample.objects, options, random_of(sample.index));
    }
    (loss.total / double(setting().batch)).backward();
    sums.add(torch::cat({loss.total.detach().view({1}), loss.parts}).to(torch::kFloat64));
  }
}

double DetectorTask::evaluate() {
  evaluation_ =
      evaluate_detector(detector_, *val_, *val_corrupt_, context_->group, context_->workers);
  return evaluation_.metrics[detect::kAp];
}

std::optional<io::RgbImage> DetectorTask::draw_samples(int count) {
  const ModelSpec& spec = detector_->spec();
  report::PonderSheet sheet;
  count = int(std::min<int64_t>(count, val_->size()));
  for (int i = 0; i < count; ++i) {
    DetectionSample sample;
    try {
      sample = read_sample(*val_, int64_t(i) * val_->size() / count, *spec.detection,
                           /*flipped=*/false, /*reduced=*/false);
    } catch (const Error&) {
      continue;  // named when it was met in the evaluation
    }
    const DetectionOutput output =
        detect(detector_, network_input(sample, spec.input, context_->device), {0.3f});
    std::string caption = output.detections.empty() ? "nothing found" : "";
    std::vector<report::DrawnObject> objects;
    for (const detect::Detection& found : output.detections) {
      constexpr size_t kNamed = 3;
      if (objects.size() < kNamed) {
        caption += fmt::format("{}{} {:.0f} %", objects.empty() ? "" : "\n",
                               printable(spec.label(found.label)), 100 * found.score);
      }
      objects.push_back({found.box, found.label, {}});
    }
    sheet.add(image_of(sample.pixels), ponder_cost_map(output.extracted), caption,
              std::move(objects));
  }
  if (sheet.size() == 0) return std::nullopt;
  return sheet.draw(2);
}

EpochReport DetectorTask::epoch_report(const EpochNumbers& numbers) {
  return report_->epoch(numbers, numbers.evaluated ? &evaluation_ : nullptr);
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
