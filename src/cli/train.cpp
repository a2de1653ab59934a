// sact train: trains a network on a folder of images, or goes on with a run.
#include <memory>

#include "app/torch_plugin.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/training.h"
#include "train/classify/settings.h"

namespace sact::cli {
namespace {

std::string percent(double accuracy) {
  return fmt::format("{:.2f} %", 100 * accuracy);
}

int run(const TrainingOptions& options) {
  if (options.list_settings) {
    print_settings(options, train::settings_help<train::TrainSettings>(),
                   train::to_json(train::TrainSettings{}));
    return 0;
  }
  const train::TrainOutcome outcome = app::torch_plugin().train(training_request(options));
  const std::string next = fmt::format(
      "sact eval {0}/best.safetensors --data {1}{2}, or sact predict {0}/best.safetensors IMAGE",
      options.run, outcome.data, outcome.split == "val" ? "" : " --split " + outcome.split);
  return print_outcome(options, outcome, {"train", "accuracy", percent}, next);
}

}  // namespace

void declare_train(CLI::App& app, Action& action) {
  auto options = std::make_shared<TrainingOptions>();
  CLI::App* command = app.add_subcommand("train", "Train a network on a folder of images");
  add_data_options(*command, *options,
                   "Image folder with train/ and val/ (or val_split=0.1), CIFAR-10 folder, "
                   "or synthetic",
                   "Model file to start from");
  add_training_options(*command, *options, train::to_json(train::TrainSettings{}));
  set_examples(*command,
               "  sact train --data photos --out runs/plain depth=50 epochs=40 size=128\n"
               "  sact train --data photos --out runs/sact --init runs/plain/best.safetensors \\\n"
               "             halting=sact tau=0.005 epochs=20 rate=0.03 schedule=cosine\n"
               "  sact train --out runs/sact                 # goes on where it was stopped\n"
               "  sact train --out runs/sact epochs=30       # goes on after the end\n"
               "  sact train --data synthetic --out runs/try units=2,2,2 stem=small unit=basic \\\n"
               "             width=16 size=32 halting=sact epochs=5\n"
               "\n" +
                   train::settings_help<train::TrainSettings>());
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
