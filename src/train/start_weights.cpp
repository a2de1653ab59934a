#include "train/start_weights.h"

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"

namespace sact::train {

void start_from(torch::OrderedDict<std::string, torch::Tensor> tensors, const ModelSpec& spec,
                const ModelFile& init) {
  torch::NoGradGuard no_grad;
  int fresh = 0;
  for (const WeightInfo& weight : weight_list(spec)) {
    const io::TensorView* view = init.find(weight.name);
    const bool optional =
        weight.name.find(".halting.") != std::string::npos || weight.name.starts_with("proposal.");
    const bool head = weight.name.starts_with("head.fc.");
    if (!view && optional) {
      ++fresh;
      continue;
    }
    if (!view) {
      fail("{}: has no weights for '{}': it cannot start a network with units {}", init.name(),
           weight.name, fmt::join(spec.units, ","));
    }
    // The head of a classifier means nothing to a detector, nor that of other classes.
    if (head && (view->elements() != weight.elements() ||
                 spec.detection.has_value() != init.spec().detection.has_value())) {
      continue;
    }
    if (view->elements() != weight.elements()) {
      fail("{}: its '{}' has the shape {}, but this network needs {}", init.name(), weight.name,
           io::shape_text(view->shape), io::shape_text(weight.shape));
    }
    const std::vector<float> values = init.values(weight);
    torch::Tensor& target = tensors[weight.name];
    target.copy_(torch::tensor(values).view(target.sizes()));
  }
  log_verbose("started from {}; {} tensors are fresh", init.name(), fresh);
}

}  // namespace sact::train
