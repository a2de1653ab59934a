#include "train/classify/task.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/held_out.h"
#include "data/open.h"
#include "model/preprocess.h"
#include "model/result.h"
#include "report/ponder_sheet.h"
#include "train/classify/augment.h"
#include "train/torch/network_weights.h"
#include "train/torch/torch_runner.h"

namespace sact::train {
namespace {

double decoded_bytes(const data::Dataset& dataset, int side) {
  return double(dataset.size()) * 3 * side * side;
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

LoopSettings ClassifierTask::loop_settings() const {
  LoopSettings loop = train::loop_settings(setting());
  loop.initial.halting_reach = setting().halting_reach;
  loop.split = data::split_name("val", setting().val_split);
  loop.sgd.halting_rate = setting().halting_rate;
  loop.average_buffers = !setting().sync_norms;
  return loop;
}

DataFacts ClassifierTask::open_data() {
  const data::OpenOptions open{setting().class_names, setting().boxes};
  auto open_split = [&](const char* split) {
    return data::open_dataset(setting().data, data::split_name(split, setting().val_split), open);
  };
  train_set_ = open_split("train");
  val_set_ = open_split("val");
  data::check_same_classes(*train_set_, *val_set_, setting().data);
  return {train_set_->size(), val_set_->size(), train_set_->class_names()};
}

ModelSpec ClassifierTask::new_spec(const std::vector<std::string>& class_names) const {
  return spec_of_run(setting(), class_names);
}

void ClassifierTask::make_model(const ModelSpec& spec, const std::vector<Weight>& weights,
                                torch::Device device) {
  if (device.is_cpu()) {  // which a step takes several times
    expect_forward_memory(spec, setting().batch, {setting().size, setting().size});
  }
  network_ = make_network(spec, weights);
  report_ = std::make_unique<ClassifierReport>(spec);
}

torch::OrderedDict<std::string, torch::Tensor> ClassifierTask::tensors() {
  return named_tensors(*network_);
}

void ClassifierTask::check_init(const ModelFile& init) const {
  expect_classifier(init);
}

RateSchedule ClassifierTask::schedule(int64_t steps_per_epoch) const {
  return rate_schedule(setting(), steps_per_epoch);
}

std::string ClassifierTask::prepare(const RunContext& context) {
  context_ = &context;
  if (setting().sync_norms) network_->synchronise_norms(context.group);
  network_->train();
  network_->set_norm_decay(setting().norm_decay);
  network_->set_halting_slope_floor(setting().halting_gradient_floor);
  StepOptions step{setting().label_smoothing, setting().tau, context.bf16};
  // Recorded kernels cannot wait for other processes in the midst of a step.
  step.graph = setting().cuda_graph && !setting().sync_norms;
  step_ = std::make_unique<TrainingStep>(network_, step);

  auto storage_size = [&](const data::Dataset& dataset, int side, double crop) {
    return setting().storage_size ? setting().storage_size
                                  : data::suitable_storage_size(dataset, side, crop);
  };
  DeviceLoaderOptions options;
  options.workers = context.workers;
  options.max_corrupt = setting().max_corrupt;
  options.device = context.device;
  options.interrupted = context.interrupted;
  train_options_ = val_options_ = options;
  train_options_.storage_size = storage_size(*train_set_, setting().size, InputSpec().crop);
  // Evaluation sees what `sact eval` of the model would see.
  val_options_.storage_size = storage_size(*val_set_, eval_side(), network_->spec().input.crop);
  const double bytes = decoded_bytes(*train_set_, train_options_.storage_size) +
                       decoded_bytes(*val_set_, val_options_.storage_size);
  const bool cache = setting().cache == "memory" ||
                     (setting().cache == "auto" &&
                      context.group.local_size() * bytes < 0.5 * double(available_memory()));
  train_options_.cache = val_options_.cache = cache;
  return cache ? "in memory" : "";
}

void ClassifierTask::load_data() {
  train_loader_ = std::make_unique<DeviceLoader>(*train_set_, train_options_);
  val_loader_ = std::make_unique<DeviceLoader>(*val_set_, val_options_);
}

void ClassifierTask::start_epoch(int64_t epoch, std::vector<int64_t> order, int64_t first) {
  epoch_ = epoch;
  pass_ = train_loader_->pass(std::move(order), setting().batch, first, /*training=*/true);
}

void ClassifierTask::step(int64_t step, EpochSums& sums) {
  SACT_ASSERT(pass_->next(batch_));
  std::vector<Augmentation> augmentations;
  for (size_t i = 0; i < batch_.indices.size(); ++i) {
    augmentations.push_back(draw_augmentation(setting(), uint64_t(setting().seed), epoch_,
                                              batch_.indices[i], batch_.aspects[i],
                                              batch_.boxes[i]));
  }
  const torch::Tensor images =
      augment_batch(batch_.pixels, augmentations, setting().size, network_->spec().input);
  step_->set_tau(ponder_weight(setting(), step, context_->steps_per_epoch));
  const StepResult result = step_->run(images, batch_.labels);
  sums.add(result.sums, result.most_units);
}

void ClassifierTask::end_epoch() {
  pass_.reset();
  train_loader_->corrupt().name_lost_classes(*train_set_);
}

double ClassifierTask::evaluate() {
  EvaluateOptions options{eval_size(), setting().batch, context_->bf16};
  options.answers = &answers_;
  evaluation_ = train::evaluate(network_, *val_loader_, context_->group, options);
  return evaluation_.accuracy;
}

std::optional<io::RgbImage> ClassifierTask::draw_samples(int count) {
  if (count == 0 || !network_->spec().adaptive()) return std::nullopt;
  const EvaluationMode mode(*network_);
  const ModelSpec& spec = network_->spec();
  const Size size = eval_size();
  report::PonderSheet sheet;
  count = int(std::min<int64_t>(count, val_set_->size()));
  for (int i = 0; i < count; ++i) {
    // Spread over the set, which is ordered by class.
    const int64_t index = int64_t(i) * val_set_->size() / count;
    io::RgbImage image;
    try {
      image = val_set_->load(index).image;
    } catch (const Error&) {
      continue;  // named when it was met in a batch
    }
    const io::Crop crop = io::central_crop(image, spec.input.crop);
    std::vector<float> input = network_input(image, crop, size, spec.input);
    const torch::Tensor images =
        torch::from_blob(input.data(), {1, 3, size.height, size.width}, torch::kFloat32)
            .to(context_->device);
    const ImageResult result = std::move(results_of(spec, network_->forward(images), size).front());
    const int truth = val_set_->label(index), answer = top_classes(result.logits, 1)[0].index;
    sheet.add(io::cut(image, crop), ponder_cost_map(result),
              fmt::format("{}: {}\nis {}, ponder cost {:.2f}", answer == truth ? "right" : "wrong",
                          printable(spec.label(answer)), printable(spec.label(truth)),
                          ponder_cost(result)));
  }
  if (sheet.size() == 0) return std::nullopt;
  return sheet.draw(2);
}

const char* ClassifierTask::samples_caption() const {
  return "ponder cost over validation images, with what was said and what is so";
}

void ClassifierTask::write_evaluation(const std::filesystem::path& run, int64_t epoch) {
  report_->classes.write(run, *val_set_, answers_, epoch);
}

void ClassifierTask::read_evaluation(const std::filesystem::path& run, int64_t last_epoch) {
  report_->classes.read(run, network_->spec().classes, last_epoch);
}

EpochReport ClassifierTask::epoch_report(const EpochNumbers& numbers) {
  return report_->epoch(numbers, numbers.evaluated ? &evaluation_ : nullptr, answers_.entropy());
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
  if (settings.score_floor != 0) spec.score_floor = settings.score_floor;
  if (settings.tile != 0) spec.tile = settings.tile;
  if (settings.halting_norm != "auto") spec.halting_norm = settings.halting_norm == "true";
  spec.classes = int(class_names.size());
  spec.labels = class_names;
  spec.input.size = settings.eval_size ? settings.eval_size : settings.size;
  validate(spec, "the network of this run");
  return spec;
}

}  // namespace sact::train
