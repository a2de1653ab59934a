// What the commands below `sact saliency` share: the centre map and common options.
#pragma once

#include <optional>
#include <string>

#include "base/size.h"
#include "cli/command.h"
#include "saliency/postprocess.h"

namespace sact::cli {

void declare_saliency_eval(CLI::App& parent, Action& action);
void declare_saliency_map(CLI::App& parent, Action& action);
void declare_saliency_center(CLI::App& parent, Action& action);

struct CenterOptions {
  std::string file, variable = "center";
  double sigma = saliency::kCenterSigma;
};

/// The centre map: a file, or a Gaussian of any size.
class Center {
 public:
  explicit Center(const CenterOptions& options);
  Map at(Size size) const;

 private:
  std::optional<Map> map_;
  double sigma_;
};

void add_center_options(CLI::App& command, CenterOptions& options);
void add_density_option(CLI::App& command, double& sigma);
void add_variable_option(CLI::App& command, std::string& variable);

/// Checks of --blur and --center-weight.
CLI::Validator is_blur();
CLI::Validator is_center_weight();

}  // namespace sact::cli
