#include "import/assemble.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "data/fields.h"
#include "model/architecture.h"
#include "model/spec_from_weights.h"
#include "model/weight_check.h"

namespace sact::importing {
namespace {

constexpr size_t kNamed = 3;  // in a message

/// All convolutions, each with the norm after it, if there is one.
std::vector<ConvStep> convolutions_of(const ModelSpec& spec) {
  const Architecture architecture(spec);
  std::vector<ConvStep> steps = {architecture.stem->convolution};
  for (const auto& block : architecture.blocks) {
    for (const UnitSteps& unit : block) {
      if (unit.shortcut) steps.push_back(*unit.shortcut);
      steps.insert(steps.end(), unit.convolutions.begin(), unit.convolutions.end());
    }
  }
  return steps;
}

/// Collects what is wrong with the tensors, for one line that names the first of each kind.
class TensorCheck {
 public:
  TensorCheck(const NamedNetwork& network, const ModelSpec& spec) : network_(network) {
    std::set<std::string, std::less<>> known;
    for (const WeightInfo& weight : weight_list(spec)) {
      known.insert(weight.name);
      check(weight);
    }
    for (const ConvStep& step : convolutions_of(spec)) {
      const std::string bias = step.name + ".bias";
      if (!network.tensors.contains(bias)) continue;
      known.insert(bias);
      check({bias, {step.out}, WeightRole::kLinearBias});
    }
    for (const auto& [name, view] : network.tensors) {
      if (!known.contains(name)) strangers_.push_back("'" + network.source_name(name) + "'");
    }
  }

  void expect_none(const std::string& file_name) const {
    std::string problems;
    const auto add = [&](const std::vector<std::string>& names, const char* one, const char* many) {
      if (names.empty()) return;
      problems += fmt::format("{}{} {}: {}", problems.empty() ? "" : "; ",
                              pluralize(int64_t(names.size()), "tensor"),
                              names.size() == 1 ? one : many, data::listed(names, kNamed));
    };
    add(missing_, "is missing", "are missing");
    add(misshapen_, "has another shape or type than its layer needs",
        "have other shapes or types than their layers need");
    add(strangers_, "belongs to no layer that is known here",
        "belong to no layer that is known here");
    if (!problems.empty()) fail("{}: {}", file_name, problems);
  }

 private:
  void check(const WeightInfo& weight) {
    const std::string name = "'" + network_.source_name(weight.name) + "'";
    const auto found = network_.tensors.find(weight.name);
    if (found == network_.tensors.end()) {
      missing_.push_back(name);
    } else if (!is_floating(found->second.dtype)) {
      misshapen_.push_back(fmt::format("{} is {} and not of floating point numbers", name,
                                       io::dtype_name(found->second.dtype)));
    } else if (!has_shape_of(found->second, weight)) {
      misshapen_.push_back(fmt::format("{} is {} and not {}", name,
                                       io::shape_text(found->second.shape),
                                       io::shape_text(weight.shape)));
    }
  }

  const NamedNetwork& network_;
  std::vector<std::string> missing_, misshapen_, strangers_;
};

class Assembler {
 public:
  Assembler(const NamedNetwork& network, const ModelSpec& spec, const std::string& file_name)
      : network_(network), spec_(spec), file_name_(file_name) {
    for (const WeightInfo& info : weight_list(spec)) {
      places_[info.name] = weights_.size();
      weights_.push_back({info, values(info.name, info.role)});
    }
  }

  std::vector<Weight> assemble(Folded& folded) {
    fold_biases(folded);
    fold_epsilons(folded);
    if (network_.bgr.value) swap_colours();
    return std::move(weights_);
  }

 private:
  std::vector<float> values(const std::string& name, WeightRole role) const {
    return weight_values(network_.tensors.at(name), role, network_.source_name(name), file_name_);
  }

  std::vector<float>& weight(const std::string& name) { return weights_[places_.at(name)].values; }

  /// norm(conv + bias) is a norm of conv whose mean is lower by the bias.
  void fold_biases(Folded& folded) {
    for (const ConvStep& step : convolutions_of(spec_)) {
      const std::string name = step.name + ".bias";
      if (!network_.tensors.contains(name)) continue;
      const std::vector<float> bias = values(name, WeightRole::kLinearBias);
      if (step.norm) {
        std::vector<float>& mean = weight(step.norm->name + ".running_mean");
        for (size_t i = 0; i < bias.size(); ++i) mean[i] = float(double(mean[i]) - bias[i]);
        ++folded.biases;
      } else if (std::any_of(bias.begin(), bias.end(), [](float value) { return value != 0; })) {
        fail("{}: is not supported: the convolution of tensor '{}' has a bias and no norm after it",
             file_name_, network_.source_name(name));
      }
    }
  }

  /// The network has one epsilon, the lowest of all, so that no variance falls below 0.
  void fold_epsilons(Folded& folded) {
    for (const auto& [norm, epsilon] : network_.norm_epsilons) {
      const double more = epsilon - spec_.norm_epsilon;
      if (more == 0) continue;
      for (float& variance : weight(norm + ".running_var")) variance = float(variance + more);
      ++folded.variances;
    }
  }

  void swap_colours() {
    const ConvStep stem = stem_of(spec_)->convolution;
    std::vector<float>& values = weight(stem.name + ".weight");
    const size_t window = size_t(stem.kernel) * size_t(stem.kernel), filter = 3 * window;
    for (size_t first = 0; first < values.size(); first += filter) {
      const auto begin = values.begin() + ptrdiff_t(first);
      std::swap_ranges(begin, begin + ptrdiff_t(window), begin + ptrdiff_t(2 * window));
    }
  }

  const NamedNetwork& network_;
  const ModelSpec& spec_;
  const std::string& file_name_;
  std::vector<Weight> weights_;
  std::map<std::string, size_t> places_;
};

}  // namespace

ModelSpec spec_of(const NamedNetwork& network, const std::string& file_name) {
  ModelSpec names;
  const bool v1 = network.tensors.lower_bound("layer1.") != network.tensors.end() &&
                  network.tensors.lower_bound("layer1.")->first.starts_with("layer1.");
  names.unit = v1 ? UnitKind::kBottleneckV1 : UnitKind::kBottleneck;
  for (const std::string& first :
       {stem_of(names)->convolution.name, unit_prefix(names, 0, 0) + "conv1",
        Architecture(names).head->linear.name}) {
    if (!network.tensors.contains(first + ".weight")) {
      fail("{}: tensor '{}' is missing", file_name, network.source_name(first + ".weight"));
    }
  }
  ModelSpec spec = spec_from_weights(network.tensors, file_name);
  if (spec.adaptive()) {
    fail("{}: has halting scores, which only networks of sact have; 'sact export' writes it anew",
         file_name);
  }
  TensorCheck(network, spec).expect_none(file_name);
  const bool bottleneck = expansion(spec.unit) > 1;
  spec.stride_on = bottleneck ? network.stride_on.value : StrideOn::k3x3;
  if (spec.stem == Stem::kImageNet) spec.stem_pool = network.pool.value;
  spec.norm_epsilon = network.norm_epsilon.value;
  spec.input.size = network.size.value;
  spec.input.crop = network.crop.value;
  spec.input.mean = network.mean.value;
  spec.input.std = network.std.value;
  validate(spec, file_name);
  return spec;
}

std::vector<Weight> weights_of(const NamedNetwork& network, const ModelSpec& spec,
                               const std::string& file_name, Folded& folded) {
  return Assembler(network, spec, file_name).assemble(folded);
}

}  // namespace sact::importing
