// Evaluating a model over a data set on any back end.
#pragma once

#include "app/backends.h"
#include "evaluation/evaluate.h"
#include "model/eval_result.h"

namespace sact::app {

/// Evaluates at the sizes of the request, or at the model's own when it has none. Device, threads,
/// type and halting of the request are those of `compute`. Of several processes only the first gets
/// outcomes.
EvalResult evaluate_model(const ModelFile& model, EvaluationRequest request,
                          const Compute& compute);

}  // namespace sact::app
