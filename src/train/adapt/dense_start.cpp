#include "train/adapt/dense_start.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "model/architecture.h"
#include "train/classify/evaluation.h"
#include "train/torch/network_weights.h"

namespace sact::train {
namespace {

std::vector<std::shared_ptr<NormImpl>> halting_norms(Network network) {
  std::vector<std::shared_ptr<NormImpl>> norms;
  for (const auto& item : network->named_modules()) {
    if (!is_of_halting(item.key())) continue;
    if (auto norm = std::dynamic_pointer_cast<NormImpl>(item.value())) norms.push_back(norm);
  }
  return norms;
}

}  // namespace

void expect_dense_classifier(const ModelFile& file) {
  const ModelSpec& spec = file.spec();
  if (spec.detection) {
    fail("{}: is a detector; 'sact adapt' makes dense classifiers adaptive", file.name());
  }
  if (spec.adaptive()) {
    fail("{}: is adaptive already ({}); give a dense network, or train this one with 'sact train'",
         file.name(), name_of(spec.halting));
  }
  const bool can_halt =
      std::any_of(spec.units.begin(), spec.units.end(), [](int units) { return units > 1; });
  if (!can_halt) {
    fail("{}: its blocks have one unit each, so there is nothing to skip; give a deeper network",
         file.name());
  }
}

ModelSpec adaptive_spec(const ModelSpec& dense, const AdaptSettings& settings) {
  ModelSpec spec = dense;
  spec.halting = halting_from_name(settings.halting, "setting 'halting'");
  spec.score_floor = settings.score_floor;
  if (settings.epsilon != 0) spec.epsilon = settings.epsilon;
  if (settings.tile != 0) spec.tile = settings.tile;
  if (settings.halting_norm != "auto") spec.halting_norm = settings.halting_norm == "true";
  if (settings.eval_side() != 0) spec.input.size = settings.eval_side();
  validate(spec, "the network of this run");
  return spec;
}

ModelSpec dense_spec(ModelSpec adaptive) {
  adaptive.halting = Halting::kNone;
  adaptive.score_floor = 0;
  return adaptive;
}

std::string start_from_dense(torch::OrderedDict<std::string, torch::Tensor> tensors,
                             const ModelSpec& spec, const ModelFile& dense) {
  set_weights(std::move(tensors), read_weights(dense, dense_spec(spec)));
  int64_t scores = 0;
  for (int block = 0; block < spec.blocks(); ++block) {
    for (int unit = 0; unit < spec.units[size_t(block)]; ++unit) {
      scores += spec.has_halting_score(block, unit);
    }
  }
  return fmt::format("starts from {}: all of it; fresh: halting of {}", dense.name(),
                     pluralize(scores, "unit"));
}

std::string start_from_adaptive(torch::OrderedDict<std::string, torch::Tensor> tensors,
                                const ModelSpec& spec, const ModelFile& adaptive) {
  const ModelSpec& found = adaptive.spec();
  const bool alike = found.halting == spec.halting && found.epsilon == spec.epsilon &&
                     found.score_floor == spec.score_floor && found.tile == spec.tile &&
                     found.halting_norm == spec.halting_norm;
  if (found.detection || !alike) {
    fail(
        "{}: does not halt as the network of this run; give what one of its runs wrote, with the "
        "same halting, epsilon, score_floor, tile and halting_norm",
        adaptive.name());
  }
  set_weights(std::move(tensors), read_weights(adaptive, spec));
  return fmt::format("starts from {}: all of it", adaptive.name());
}

void make_steep(torch::OrderedDict<std::string, torch::Tensor> tensors, const ModelSpec& spec,
                double factor) {
  torch::NoGradGuard no_grad;
  for (const auto& block : Architecture(spec).blocks) {
    for (const UnitSteps& unit : block) {
      if (!unit.halting) continue;
      if (unit.halting->local) tensors[unit.halting->local_name() + ".weight"].mul_(factor);
      tensors[unit.halting->global_name() + ".weight"].mul_(factor);
      tensors[unit.halting->global_name() + ".bias"].mul_(factor).add_(
          HardHalting::threshold_of(spec));
    }
  }
}

void measure_halting_norms(Network network, const std::function<torch::Tensor()>& next) {
  const EvaluationMode mode(*network);
  const auto norms = halting_norms(network);
  struct Before {
    bool frozen;
    double momentum;
  };
  std::vector<Before> before;
  for (const auto& norm : norms) before.push_back({norm->frozen, *norm->options.momentum()});
  int batches = 0;
  for (torch::Tensor images = next(); images.defined(); images = next()) {
    ++batches;
    for (const auto& norm : norms) {
      norm->frozen = false;
      norm->train();
      norm->options.momentum(1.0 / batches);  // the mean over batches
    }
    network->forward(images, {.early_exit = false});
  }
  for (size_t i = 0; i < norms.size(); ++i) {
    norms[i]->frozen = before[i].frozen;
    norms[i]->options.momentum(before[i].momentum);
  }
}

}  // namespace sact::train
