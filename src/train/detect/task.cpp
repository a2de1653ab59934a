#include "train/detect/task.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/architecture.h"
#include "report/ponder_sheet.h"
#include "train/adapt/dense_start.h"
#include "train/detect/loss.h"
#include "train/detect/measure_norms.h"
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
  loop.sgd.halting_rate = setting().halting_rate;
  if (setting().hard()) descend_with_steep_scores(loop.sgd, setting().steepness);
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
  module_ = DetectorModule(
      detector_, SteeringOptions{setting().steering, setting().tau, setting().tau_max},
      SteeringOptions{setting().steering, setting().first_head_tau(), setting().tau_max});
  auto tensors = named_tensors(*detector_);
  for (const WeightInfo& weight : weight_list(spec)) {
    if (weight.is_parameter()) tensors[weight.name].set_requires_grad(learns(spec, weight));
  }
  report_ = std::make_unique<DetectorReport>(spec);
}

torch::OrderedDict<std::string, torch::Tensor> DetectorTask::tensors() {
  return named_tensors(*detector_);
}

bool DetectorTask::learns(const ModelSpec& spec, const WeightInfo& weight) const {
  const std::string& name = weight.name;
  // Scales and shifts inside of steep scores have no part in the steepness.
  if (is_of_halting(name)) return !setting().hard() || name.find("_norm.") == std::string::npos;
  const bool of_norm =
      weight.role == WeightRole::kNormScale || weight.role == WeightRole::kNormShift;
  if (of_norm && !setting().norms_learn()) return false;
  const int frozen = std::min(setting().frozen_parts(), spec.blocks());
  if (frozen > 0) {
    const auto stem = stem_of(spec);
    const ConvStep& convolution = stem->convolution;
    if (name.starts_with(convolution.name + ".")) return false;
    if (convolution.norm && name.starts_with(convolution.norm->name + ".")) return false;
  }
  for (int block = 0; block + 1 < frozen; ++block) {
    if (name.starts_with(block_prefix(spec, block))) return false;
  }
  return true;
}

std::string DetectorTask::start_from(const ModelSpec& spec, const ModelFile& init) {
  const std::string said = Task::start_from(spec, init);
  if (!spec.adaptive()) return said;
  const bool fresh_scores = !init.spec().adaptive();
  if (fresh_scores && setting().hard()) make_steep(tensors(), spec, setting().steepness);
  if (!fresh_scores) expect_steepness(init);
  measures_norms_ = fresh_scores && spec.halting_norm;
  return said;
}

/// Scores that were made steep have biases of their steepness times about 3; see `sact adapt`.
void DetectorTask::expect_steepness(const ModelFile& init) const {
  std::vector<double> biases;
  for (const WeightInfo& weight : weight_list(init.spec())) {
    if (weight.role != WeightRole::kHaltingBias) continue;
    biases.push_back(std::abs(double(init.values(weight).front())));
  }
  if (biases.empty()) return;
  std::nth_element(biases.begin(), biases.begin() + ptrdiff_t(biases.size() / 2), biases.end());
  const double found = biases[biases.size() / 2] / 3;
  constexpr double kSteep = 30;
  if (!setting().hard() && found > kSteep) {
    fail(
        "{}: its halting scores are steep (their biases are about {:.0f}), and the soft rule would "
        "teach them nothing; give scores=hard steepness={:.0f}, or halting=none",
        init.name(), -3 * found, std::pow(10, std::round(std::log10(found))));
  }
  if (setting().hard() && found <= kSteep) {
    fail("{}: its halting scores are not steep (their biases are about {:.1f}); give scores=soft",
         init.name(), 3 * found);
  }
}

std::vector<torch::Tensor> DetectorTask::averaged_tensors() {
  return {module_->steering->share(), module_->head_steering->share()};
}

RateSchedule DetectorTask::schedule(int64_t steps_per_epoch) const {
  return rate_schedule(setting(), steps_per_epoch * setting().epochs);
}

std::string DetectorTask::prepare(const RunContext& context) {
  context_ = &context;
  DetectorPartsOptions options;
  options.record = setting().cuda_graph;
  options.recorded_boxes = setting().box_batch;
  if (setting().hard() && detector_->spec().adaptive()) {
    options.hard = {HardHalting::threshold_of(detector_->spec()), setting().steepness};
  }
  parts_ = std::make_unique<DetectorParts>(detector_, options);
  const std::vector<int> sides = setting().sides();
  const int side = *std::max_element(sides.begin(), sides.end());
  const uint64_t bytes =
      StoredPictures::bytes(*train_, side) * uint64_t(context.group.local_size());
  const bool keep =
      setting().cache == "memory" || (setting().cache == "auto" && bytes < available_memory() / 2);
  if (keep) expect_memory(bytes, "keeping the decoded training images (cache=none does without)");
  pictures_ = std::make_unique<StoredPictures>(*train_, side, keep);
  return keep ? "in memory" : "";
}

std::vector<std::pair<std::string, double>> DetectorTask::begin(bool fresh) {
  // The first process alone knows what the run starts from; all take over what it finds.
  if (fresh && context_->group.any(measures_norms_)) {
    if (measures_norms_) {
      measure_detector_norms(detector_, train_->size(), *pictures_, uint64_t(setting().seed));
    }
    context_->group.broadcast(detector_->buffers());
  }
  return {};
}

Random DetectorTask::random_of(int64_t index) const {
  return Random::derived(uint64_t(setting().seed) + 0x9e37,
                         uint64_t(epoch_) * uint64_t(train_->size()) + uint64_t(index));
}

std::vector<int64_t> DetectorTask::arrange(std::vector<int64_t> order, int64_t epoch,
                                           int64_t images) {
  std::vector<Size> shapes;
  for (int64_t index = 0; index < train_->size(); ++index) {
    shapes.push_back(train_->picture_size(index));
  }
  return similar_together(std::move(order), shapes, images,
                          Random::derived(uint64_t(setting().seed) + 1, uint64_t(epoch)).bits());
}

void DetectorTask::start_epoch(int64_t epoch, std::vector<int64_t> order, int64_t first) {
  epoch_ = epoch;
  order.erase(order.begin(), order.begin() + first);
  const int64_t first_step = first / setting().batch;
  // The side is that of a step, in all processes: shapes within a batch stay alike.
  const auto side_at = [this, first_step](int64_t position) {
    const std::vector<int> sides = setting().sides();
    const int64_t step = first_step + position / setting().batch;
    Random random = Random::derived(uint64_t(setting().seed) + 2,
                                    uint64_t(epoch_ * context_->steps_per_epoch + step));
    return sides[size_t(random.below(int64_t(sides.size())))];
  };
  const auto read = [this, side_at](int64_t position, int64_t index) {
    return training_sample(*train_, index, *pictures_->get(index),
                           {side_at(position), random_of(index).coin(setting().flip)});
  };
  BatchLoaderOptions options;
  options.batch = setting().batch;
  options.workers = context_->workers;
  options.pinned = context_->device.is_cuda();
  loader_ = std::make_unique<DetectionBatchLoader>(train_->size(), std::move(order), read, options,
                                                   *train_corrupt_);
}

/// With a budget tau follows what the steps before have taken. The budget falls from what the first
/// step took.
void DetectorTask::steer(Steering& steering, double budget, double tau, int64_t step) const {
  if (budget == 0 || step == 0) return steering->set_tau(tau);
  if (step == 1) steering->note_first_share();
  const int64_t steps = setting().epochs * context_->steps_per_epoch;
  const double wanted =
      ramped_budget(budget, setting().budget_ramp, steering->known_first_share(), step, steps);
  steering->update(wanted, /*first=*/step == 1);
}

void DetectorTask::step(int64_t step, EpochSums& sums) {
  steer(module_->steering, setting().budget, setting().tau, step);
  steer(module_->head_steering, setting().head_budget, setting().first_head_tau(), step);
  const DetectionLossOptions options{
      module_->steering->tau().squeeze(0), module_->head_steering->tau().squeeze(0),
      setting().anchor_batch, setting().box_batch, context_->workers};
  const DetectionBatch batch = loader_->next();
  const torch::Tensor images = network_input(batch, detector_->spec().input, context_->device);
  std::vector<ImageTruth> truth;
  for (size_t i = 0; i < batch.samples.size(); ++i) {
    const DetectionSample& sample = batch.samples[i];
    truth.push_back({batch.sizes[i], sample.objects, random_of(sample.index)});
  }
  // No search for the fastest convolutions: it takes seconds for every shape of a batch, of which
  // there are dozens.
  DetectionLoss loss;
  {
    Autocast autocast(context_->bf16);
    loss = detection_loss(*parts_, images, truth, options);
  }
  loss.total.backward();
  module_->steering->share().fill_(loss.share);
  module_->head_steering->share().fill_(loss.head_share);
  const torch::Tensor means = torch::cat(
      {loss.total.detach().view({1}), loss.parts, module_->steering->share(),
       module_->head_steering->share(), module_->steering->tau(), module_->head_steering->tau()});
  sums.add(means.to(torch::kFloat64) * double(batch.samples.size()));
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
      sample = read_sample(*val_, int64_t(i) * val_->size() / count, *spec.detection);
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
  if (settings.score_floor != 0) spec.score_floor = settings.score_floor;
  spec.classes = int(class_names.size());
  spec.labels = class_names;
  DetectionSpec detection;
  detection.shorter_side = settings.shorter_side;
  detection.anchor_sizes = settings.anchor_sizes.empty() ? usual_anchor_sizes(settings.shorter_side)
                                                         : settings.anchor_sizes;
  detection.anchor_ratios = settings.anchor_ratios;
  detection.proposal_channels = settings.proposal_channels;
  detection.proposals = settings.proposals;
  spec.detection = detection;
  validate(spec, "the detector of this run");
  return spec;
}

}  // namespace sact::train
