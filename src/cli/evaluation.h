// Evaluating a model over a data set, for all commands that do: their options and the call.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "model/eval_result.h"
#include "train/plugin.h"

namespace sact::cli {

/// Adds --data, --split, --class-names, --batch, --workers and --bf16; returns --data.
CLI::Option* add_evaluation_options(CLI::App& command, train::EvalRequest& request);

/// "128", "128x160", ...
std::vector<Size> parse_sizes(const std::vector<std::string>& texts);

/// Evaluates at the sizes of the request, or at the model's own when it has none.
EvalResult evaluate_model(const ModelFile& model, train::EvalRequest request,
                          const CommonOptions& common);

}  // namespace sact::cli
