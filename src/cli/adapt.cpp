// sact adapt: makes a dense network adaptive with photographs without labels, or goes on with a
// run.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "app/torch_plugin.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/training.h"
#include "train/adapt/settings.h"

namespace sact::cli {
namespace {

struct AdaptOptions : TrainingOptions {
  std::vector<std::string> images, val;
  std::string val_data;
};

std::string defaults() {
  return train::to_json(train::AdaptSettings{});
}

std::string percent(double agreement) {
  return fmt::format("{:.2f} %", 100 * agreement);
}

/// Where an option takes many values, or MODEL is left out, a setting behind it looks like one.
void move_settings(std::vector<std::string>& words, std::vector<std::string>& assignments) {
  const std::vector<std::string> beginnings = setting_beginnings(defaults());
  std::vector<std::string> moved;
  std::erase_if(words, [&](const std::string& word) {
    std::error_code ignored;
    const bool setting =
        std::any_of(beginnings.begin(), beginnings.end(),
                    [&](const auto& beginning) { return word.starts_with(beginning); }) &&
        !std::filesystem::exists(word, ignored);
    if (setting) moved.push_back(word);
    return setting;
  });
  assignments.insert(assignments.begin(), moved.begin(), moved.end());
}

void move_settings(AdaptOptions& options) {
  std::vector<std::string> model;
  if (!options.init.empty()) model.push_back(options.init);
  move_settings(options.val, options.assignments);
  move_settings(options.images, options.assignments);
  move_settings(model, options.assignments);
  options.init = model.empty() ? "" : model.front();
}

train::TrainRequest adapt_request(AdaptOptions options) {
  move_settings(options);
  train::TrainRequest request = training_request(options);
  std::vector<std::string> first;
  auto add = [&](const char* key, const std::string& value) {
    first.push_back(fmt::format("{}={}", key, value));
  };
  if (!options.images.empty()) add("images", io::dump_json(io::Json(options.images)));
  if (!options.val.empty()) add("val", io::dump_json(io::Json(options.val)));
  if (!options.val_data.empty()) add("val_data", options.val_data);
  request.assignments.insert(request.assignments.begin(), first.begin(), first.end());
  return request;
}

int run(const AdaptOptions& options) {
  if (options.list_settings) {
    print_settings(options, train::settings_help<train::AdaptSettings>(), defaults());
    return 0;
  }
  const train::TrainOutcome outcome = app::torch_plugin().adapt(adapt_request(options));
  return print_outcome(options, outcome, {"adapt", "agreement", percent},
                       fmt::format("sact predict {}/best.safetensors IMAGE", options.run));
}

}  // namespace

void declare_adapt(CLI::App& app, Action& action) {
  auto options = std::make_shared<AdaptOptions>();
  CLI::App* command =
      app.add_subcommand("adapt", "Make a dense network adaptive with photographs without labels");
  command->add_option("model", options->init, "Dense network, which teaches the adaptive one")
      ->type_name("MODEL");
  command->add_option("--images", options->images, "Folders of photographs, which need no labels")
      ->type_name("DIR");
  command->add_option("--val", options->val, "Folders to evaluate on instead of a part held out")
      ->type_name("DIR");
  command
      ->add_option("--val-data", options->val_data,
                   "Image folder with classes of the network, to measure accuracy on as well")
      ->type_name("DIR");
  add_training_options(*command, *options, defaults());
  set_examples(
      *command,
      "  sact adapt dense.safetensors --images photos --out runs/a budget=0.8\n"
      "  sact adapt dense.safetensors --images photos coco/train2017 --out runs/a tau=0.01\n"
      "  sact adapt --out runs/a                    # goes on where it was stopped\n"
      "  sact adapt dense.safetensors --images photos --out runs/halting train=halting\n"
      "\n" +
          train::settings_help<train::AdaptSettings>());
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
