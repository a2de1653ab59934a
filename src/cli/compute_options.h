// Options that say what runs a network, and those of evaluations.
#pragma once

#include <string>
#include <vector>

#include "app/evaluation.h"
#include "cli/command.h"
#include "model/halting_request.h"

namespace sact::cli {

/// The type of operands that each model has itself: int8 where it was calibrated for it, else fp32.
inline constexpr const char* kOwnType = "auto";
/// All that --dtype can be.
std::vector<std::string> dtype_names();

/// What --backend and --dtype gave.
struct BackendOptions {
  std::string name;  // empty: the first back end that does what was asked for
  std::string dtype = kOwnType;
  bool exact = false;
};

/// Adds --backend, --dtype and --exact to the command, which runs networks, or detectors.
void add_backend_options(CLI::App& command, BackendOptions& options, bool detectors = false);
/// --dtype alone.
void add_dtype_option(CLI::App& command, std::string& dtype);
/// --exact alone.
void add_exact_option(CLI::App& command, bool& exact);

/// What these options ask for. Throws sact::Error for what no back end does, before a model is
/// loaded for it.
app::Compute chosen_compute(const BackendOptions& wanted, const CommonOptions& common,
                            bool detector = false);

/// Adds --halting-shift, --budget and --hard-budget.
void add_halting_options(CLI::App& command, HaltingRequest& request);

/// The control that these ask for, of images of about that size. Throws sact::Error for what the
/// model cannot do, before it is loaded for it.
HaltingControl chosen_halting(const HaltingRequest& request, const ModelFile& model, Size size);

struct EvaluationOptions {
  EvaluationRequest request;
  BackendOptions backend;
  HaltingControl halting;
};

/// Adds --data, --split, --class-names, --batch, --workers, --backend, --dtype and
/// --exact; returns --data.
CLI::Option* add_evaluation_options(CLI::App& command, EvaluationOptions& options);

/// "128", "128x160", ...
std::vector<Size> parse_sizes(const std::vector<std::string>& texts);

/// Evaluates as the options say, until Ctrl-C.
EvalResult evaluate_model(const ModelFile& model, const EvaluationOptions& options,
                          const CommonOptions& common);

}  // namespace sact::cli
