// Options that the commands below `sact saliency` share.
#pragma once

#include <string>

#include "app/saliency.h"
#include "cli/command.h"

namespace sact::cli {

void declare_saliency_eval(CLI::App& parent, Action& action);
void declare_saliency_map(CLI::App& parent, Action& action);
void declare_saliency_center(CLI::App& parent, Action& action);

void add_center_options(CLI::App& command, app::CenterOptions& options);
void add_density_option(CLI::App& command, double& sigma);
void add_variable_option(CLI::App& command, std::string& variable);

/// Checks of --blur and --center-weight.
CLI::Validator is_blur();
CLI::Validator is_center_weight();

}  // namespace sact::cli
