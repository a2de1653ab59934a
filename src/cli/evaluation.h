// Evaluating a model over a data set, for all commands that do: their options and the call.
#pragma once

#include <string>
#include <vector>

#include "cli/backend.h"
#include "cli/command.h"
#include "evaluation/evaluate.h"
#include "model/model_file.h"

namespace sact::cli {

struct EvaluationOptions {
  evaluation::Request request;
  BackendOptions backend;
};

/// Adds --data, --split, --class-names, --batch, --workers, --backend and --dtype; returns
/// --data.
CLI::Option* add_evaluation_options(CLI::App& command, EvaluationOptions& options);

/// "128", "128x160", ...
std::vector<Size> parse_sizes(const std::vector<std::string>& texts);

/// Evaluates at the sizes of the request, or at the model's own when it has none. Of several
/// processes only the first gets outcomes.
EvalResult evaluate_model(const ModelFile& model, const EvaluationOptions& options,
                          const CommonOptions& common);

}  // namespace sact::cli
