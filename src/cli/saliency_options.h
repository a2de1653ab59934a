// What the commands below `sact saliency` share: the centre map, common options, time.
#pragma once

#include <chrono>
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

/// Time since it was made.
class Clock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace sact::cli
