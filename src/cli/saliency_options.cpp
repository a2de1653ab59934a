#include "cli/saliency_options.h"

namespace sact::cli {

void add_center_options(CLI::App& command, app::CenterOptions& options) {
  CLI::Option* file = command
                          .add_option("--center", options.file,
                                      "Centre map: a .mat file or a picture (default: a Gaussian)")
                          ->type_name("FILE");
  command.add_option("--center-variable", options.variable, "Its variable in a .mat file")
      ->needs(file)
      ->capture_default_str();
  command
      .add_option("--center-sigma", options.sigma,
                  "Standard deviation of the Gaussian, as a share of each side")
      ->check(number_between(0.01, 10))
      ->excludes(file)
      ->capture_default_str();
}

void add_density_option(CLI::App& command, double& sigma) {
  command
      .add_option("--density-sigma", sigma,
                  "Blur of the fixations in pixels of their map (default: 35 of 1920, one degree)")
      ->check(number_between(0.1, 1000));
}

void add_variable_option(CLI::App& command, std::string& variable) {
  command.add_option("--variable", variable, "Variable of fixation maps in .mat files")
      ->capture_default_str();
}

CLI::Validator is_blur() {
  return number_between(0, 1000);
}

CLI::Validator is_center_weight() {
  return number_between(0, 1e6);
}

}  // namespace sact::cli
