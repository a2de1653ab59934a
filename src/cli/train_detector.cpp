// sact train-detector: trains a detector on annotated images, or goes on with a run.
#include <memory>

#include "app/torch_plugin.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/training.h"
#include "detect/coco_eval.h"
#include "train/detect/settings.h"

namespace sact::cli {
namespace {

int run(const TrainingOptions& options) {
  if (options.list_settings) {
    print_settings(options, train::settings_help<train::DetectionSettings>(),
                   train::to_json(train::DetectionSettings{}));
    return 0;
  }
  const train::TrainOutcome outcome = app::torch_plugin().train_detector(training_request(options));
  return print_outcome(options, outcome, {"train-detector", "AP", detect::metric_text},
                       fmt::format("sact detect {}/best.safetensors IMAGE", options.run));
}

}  // namespace

void declare_train_detector(CLI::App& app, Action& action) {
  auto options = std::make_shared<TrainingOptions>();
  CLI::App* command =
      app.add_subcommand("train-detector", "Train a detector on images with annotated boxes");
  add_data_options(*command, *options, "Folder with COCO or Pascal VOC annotations, or synthetic",
                   "Classifier or detector to start from");
  add_training_options(*command, *options, train::to_json(train::DetectionSettings{}));
  set_examples(*command,
               "  sact train-detector --data coco --out runs/coco --init sact.safetensors\n"
               "  sact train-detector --data synthetic:size=128,count=2000,val=200 "
               "--out runs/try \\\n"
               "             train=train val=val shorter_side=128 stem=small unit=basic "
               "width=16 \\\n"
               "             units=2,2,2,2 anchor_sizes=24,48 halting=sact rate=0.01\n"
               "\n" +
                   train::settings_help<train::DetectionSettings>());
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
