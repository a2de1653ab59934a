#include "train/adapt/task.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/log.h"
#include "base/random.h"
#include "base/text.h"
#include "data/open.h"
#include "data/order.h"
#include "data/photographs.h"
#include "evaluation/evaluate.h"
#include "model/architecture.h"
#include "model/flops.h"
#include "train/adapt/dense_start.h"
#include "train/adapt/noise.h"
#include "train/classify/augment.h"
#include "train/classify/evaluation.h"
#include "train/torch/device.h"
#include "train/torch/network_weights.h"
#include "train/torch/precision.h"
#include "train/torch/torch_runner.h"

namespace sact::train {
namespace {

/// Images that the norms of halting scores are measured on, and how many at a time.
constexpr int64_t kMeasuredImages = 256;
constexpr int kMeasuredBatch = 32;

/// The labelled images of `data`: its split "val", or all of a folder without splits.
std::unique_ptr<data::Dataset> open_labelled(const std::string& data, const ModelSpec& spec) {
  EvaluationRequest request;
  request.data = data;
  if (data::dataset_splits(data).empty()) request.split = "";
  return evaluation::open_data(request, spec);
}

}  // namespace

LoopSettings AdaptTask::loop_settings() const {
  LoopSettings loop =
      train::loop_settings(setting(), fmt::format("{}", fmt::join(setting().images, ", ")));
  loop.sgd.halting_rate = setting().halting_rate;
  loop.sgd.adam = setting().optimizer == "adam";
  if (hard()) descend_with_steep_scores(loop.sgd, setting().steepness);
  return loop;
}

DataFacts AdaptTask::open_data() {
  dense_ = std::make_unique<ModelFile>(setting().init);
  expect_dense_classifier(*dense_);
  if (setting().val.empty()) {
    train_set_ = data::open_photographs(setting().images, {{false, setting().val_split}});
    val_set_ = data::open_photographs(setting().images, {{true, setting().val_split}});
  } else {
    train_set_ = data::open_photographs(setting().images);
    val_set_ = data::open_photographs(setting().val);
  }
  if (!setting().val_data.empty()) {
    labelled_set_ = open_labelled(setting().val_data, dense_->spec());
  }
  return {train_set_->size(), val_set_->size(), dense_->spec().labels};
}

ModelSpec AdaptTask::new_spec(const std::vector<std::string>&) const {
  return adaptive_spec(dense_->spec(), setting());
}

bool AdaptTask::learns(const std::string& parameter) const {
  const bool halting = is_of_halting(parameter);
  // Scales and shifts of norms inside of scores do not need to, beside the weights after them; and
  // they have no part in the steepness.
  if (halting && hard()) return parameter.find("_norm.") == std::string::npos;
  return halting || setting().train == "all";
}

void AdaptTask::make_model(const ModelSpec& spec, const std::vector<Weight>& weights,
                           torch::Device device) {
  if (device.is_cpu()) expect_forward_memory(spec, setting().batch, {side(), side()});
  Network student = make_network(spec, weights);
  for (auto& item : student->named_parameters()) item.value().set_requires_grad(learns(item.key()));
  student->set_norm_decay(setting().norm_decay);
  student->set_halting_slope_floor(setting().halting_gradient_floor);
  if (setting().norms == "frozen") student->freeze_norms();
  module_ =
      AdaptModule(student, SteeringOptions{setting().steering, setting().tau, setting().tau_max});
  teacher_ = make_network(dense_spec(spec), read_weights(*dense_, dense_spec(spec)));
  for (torch::Tensor& parameter : teacher_->parameters()) parameter.set_requires_grad(false);
  report_ = std::make_unique<AdaptReport>(spec, setting().budget);
}

torch::OrderedDict<std::string, torch::Tensor> AdaptTask::tensors() {
  return named_tensors(*module_->student);
}

std::string AdaptTask::start_from(const ModelSpec& spec, const ModelFile& init) {
  if (!setting().start.empty()) {
    return start_from_adaptive(tensors(), spec, ModelFile(setting().start));
  }
  const std::string said = start_from_dense(tensors(), spec, init);
  if (hard()) make_steep(tensors(), spec, setting().steepness);
  return said;
}

std::vector<torch::Tensor> AdaptTask::averaged_tensors() {
  std::vector<torch::Tensor> tensors = {module_->steering->share()};
  if (setting().norms == "train") {
    const auto averages = module_->student->buffers();
    tensors.insert(tensors.end(), averages.begin(), averages.end());
  }
  return tensors;
}

RateSchedule AdaptTask::schedule(int64_t steps_per_epoch) const {
  return rate_schedule(setting(), steps_per_epoch);
}

std::string AdaptTask::prepare(const RunContext& context) {
  context_ = &context;
  teacher_->to(context.device);
  if (context.device.is_cuda()) to_channels_last(*teacher_);
  teacher_->eval();
  module_->train();
  AdaptStepOptions options{setting().kl, setting().temperature, setting().features, context.bf16,
                           setting().cuda_graph};
  if (hard()) options.hard = {HardHalting::threshold_of(spec()), setting().steepness};
  const FlopsShare share(spec(), {side(), side()});
  full_share_ = share.full();
  step_ = std::make_unique<AdaptStep>(module_->student, teacher_, share, module_->steering->tau(),
                                      options);
  plan_ = plan_loaders(setting(), *train_set_, *val_set_, side(), spec().input.size, spec().input,
                       context);
  return plan_.kept;
}

void AdaptTask::load_data() {
  train_loader_ = std::make_unique<DeviceLoader>(*train_set_, plan_.train);
  val_loader_ = std::make_unique<DeviceLoader>(*val_set_, plan_.val);
  if (!labelled_set_) return;
  DeviceLoaderOptions options = plan_.val;
  options.cache = false;
  options.storage_size = evaluation::storage_size(*labelled_set_, eval_size(), spec());
  labelled_loader_ = std::make_unique<DeviceLoader>(*labelled_set_, options);
}

/// All processes measure the same images, and take over what the first has found.
void AdaptTask::measure_norms() {
  auto order = data::epoch_order(train_set_->size(), uint64_t(setting().seed), 0, /*shuffle=*/true);
  order.resize(std::min(order.size(), size_t(kMeasuredImages)));
  const auto pass = train_loader_->pass(std::move(order), kMeasuredBatch, 0, /*training=*/false);
  DeviceBatch batch;
  measure_halting_norms(module_->student, [&]() -> torch::Tensor {
    if (!pass->next(batch)) return {};
    return evaluation_batch(batch.pixels, {side(), side()}, spec().input);
  });
  context_->group.broadcast(module_->student->buffers());
}

std::vector<std::pair<std::string, double>> AdaptTask::begin(bool fresh) {
  const bool from_dense = setting().start.empty();
  if (fresh && from_dense && spec().halting_norm) measure_norms();
  if (labelled_loader_) {
    log_info("the dense network: accuracy {:.2f} % on {}", 100 * accuracy_of(teacher_),
             printable(setting().val_data, 200));
  }
  if (!fresh) {
    first_share_ = module_->steering->first_share().item<double>();
    return {};
  }
  evaluation_ = compare();
  first_share_ = from_dense ? full_share_ : evaluation_.share.mean;
  module_->steering->first_share().fill_(first_share_);
  log_info("at the start: {}", AdaptReport::text_of(evaluation_));
  return AdaptReport::scalars(evaluation_);
}

void AdaptTask::start_epoch(int64_t epoch, std::vector<int64_t> order, int64_t first) {
  epoch_ = epoch;
  pass_ = train_loader_->pass(std::move(order), setting().batch, first, /*training=*/true);
}

double AdaptTask::budget_at(int64_t step) const {
  return ramped_budget(setting().budget, setting().budget_ramp, first_share_, step,
                       setting().epochs * context_->steps_per_epoch);
}

/// With a budget tau is steered from the end of its rise on, by what the steps since have taken.
void AdaptTask::set_tau(int64_t step) {
  const double rise = setting().tau_warmup_epochs * double(context_->steps_per_epoch);
  const int64_t first = int64_t(std::ceil(rise)) + 1;  // the step after the first at full weight
  if (setting().budget > 0 && step >= first) {
    module_->steering->update(budget_at(step), step == first);
  } else {
    module_->steering->set_tau(ponder_weight(setting(), step, context_->steps_per_epoch));
  }
}

/// Logistic noise for hard halting, of this step and process; undefined where there is none.
torch::Tensor AdaptTask::noise(int64_t step, int64_t images) const {
  if (!hard() || setting().halting_noise == 0) return {};
  const int64_t values = HardHalting::draws(spec(), {side(), side()});
  const double fade = setting().noise_fade * double(setting().epochs * context_->steps_per_epoch);
  const double scale = setting().halting_noise * std::max(0.0, 1 - double(step) / fade);
  if (scale == 0) return torch::zeros({images, values}, torch::device(context_->device));
  const Random random = Random::derived(
      uint64_t(setting().seed), uint64_t(step * context_->group.size() + context_->group.rank()));
  return logistic_noise(random, images, values, scale, context_->device);
}

void AdaptTask::step(int64_t step, EpochSums& sums) {
  SACT_ASSERT(pass_->next(batch_));
  const torch::Tensor images = augmented(batch_, setting(), epoch_, side(), spec().input);
  set_tau(step);
  const StepResult result = step_->run(images, noise(step, images.size(0)));
  module_->steering->share().copy_(result.sums[kShare] / double(images.size(0)));
  sums.add(result.sums, result.most_units);
}

void AdaptTask::end_epoch() {
  pass_.reset();
}

double AdaptTask::accuracy_of(Network network) {
  const EvaluateOptions options{eval_size(), setting().batch, context_->bf16};
  return train::evaluate(network, *labelled_loader_, context_->group, options).accuracy;
}

AdaptEvaluation AdaptTask::compare() {
  EvaluateOptions options{eval_size(), setting().batch, context_->bf16};
  torch::Tensor divergences = torch::zeros({1}, torch::kFloat64);
  options.judge = [&](const torch::Tensor& images, const NetworkOutput& output) {
    const torch::Tensor taught = teacher_->forward(images).logits.to(torch::kFloat64);
    const torch::Tensor said = output.logits.to(torch::kFloat64);
    divergences += divergence(taught, said, 1).cpu() * double(images.size(0));
    const torch::Tensor answers = taught.argmax(1).to(torch::kCPU, torch::kInt32).contiguous();
    return std::vector<int>(answers.data_ptr<int>(), answers.data_ptr<int>() + answers.numel());
  };
  AdaptEvaluation found;
  found.student = train::evaluate(module_->student, *val_loader_, context_->group, options);
  context_->group.sum(divergences);
  found.divergence = divergences.item<double>() / double(found.student.images);
  const double dense = double(dense_flops(spec(), eval_size()));
  found.share = {found.student.flops.mean / dense, found.student.flops.std / dense};
  if (labelled_loader_) found.accuracy = accuracy_of(module_->student);
  return found;
}

double AdaptTask::evaluate() {
  evaluation_ = compare();
  return adapt_score(evaluation_, setting().budget);
}

std::optional<io::RgbImage> AdaptTask::draw_samples(int count) {
  return draw_ponder_maps(
      module_->student, *val_set_, eval_size(), count,
      [&](int64_t, const torch::Tensor& images, const ImageResult& result) {
        const int said = top_classes(result.logits, 1)[0].index;
        const int taught = int(teacher_->forward(images).logits.argmax(1).item<int64_t>());
        return fmt::format("{}: {}\ndense: {}, ponder cost {:.2f}",
                           said == taught ? "agrees" : "differs", printable(spec().label(said)),
                           printable(spec().label(taught)), ponder_cost(result));
      });
}

const char* AdaptTask::samples_caption() const {
  return "ponder cost over held-out photographs, with what both networks say";
}

EpochReport AdaptTask::epoch_report(const EpochNumbers& numbers) {
  return report_->epoch(numbers, numbers.evaluated ? &evaluation_ : nullptr);
}

}  // namespace sact::train
