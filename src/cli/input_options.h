// Options that say how photographs become a network's input, which are stored in its spec.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace sact::cli {

struct InputOptions {
  std::vector<double> mean, std;
  std::optional<double> crop;
  std::string size;

  /// What was given, checked: colours from 0 to 1.
  std::optional<std::array<double, 3>> mean_colour() const;
  std::optional<std::array<double, 3>> std_colour() const;
  std::optional<int> side() const;
};

/// --mean, --std, --crop and --size.
void add_input_options(CLI::App& command, InputOptions& options, const std::string& size_help);

}  // namespace sact::cli
