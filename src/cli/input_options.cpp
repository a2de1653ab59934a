#include "cli/input_options.h"

#include "base/error.h"
#include "cli/command.h"
#include "model/spec.h"

namespace sact::cli {
namespace {

std::optional<std::array<double, 3>> colour(const char* option, const std::vector<double>& given) {
  if (given.empty()) return std::nullopt;
  for (double value : given) {
    if (!(value >= 0 && value <= 1)) {
      fail("{} has {}, but colours are from 0 to 1 here: divide numbers of 0 to 255 by 255", option,
           value);
    }
  }
  return std::array{given[0], given[1], given[2]};
}

}  // namespace

std::optional<std::array<double, 3>> InputOptions::mean_colour() const {
  return colour("--mean", mean);
}

std::optional<std::array<double, 3>> InputOptions::std_colour() const {
  return colour("--std", std);
}

std::optional<int> InputOptions::side() const {
  if (size.empty()) return std::nullopt;
  const Size parsed = parse_size(size);
  if (parsed.height != parsed.width) {
    fail("--size is {}, but evaluation images are square: give one number", size);
  }
  return parsed.height;
}

void add_input_options(CLI::App& command, InputOptions& options, const std::string& size_help) {
  command.add_option("--mean", options.mean, "Mean colour to subtract, from 0 to 1")
      ->delimiter(',')
      ->expected(3)
      ->option_text("R,G,B");
  command.add_option("--std", options.std, "Deviation of colours to divide by, from 0 to 1")
      ->delimiter(',')
      ->expected(3)
      ->option_text("R,G,B");
  command.add_option("--crop", options.crop, "Share of each side that the central crop keeps")
      ->type_name("F");
  command.add_option("--size", options.size, size_help)->type_name("HxW")->check(image_size());
}

}  // namespace sact::cli
