// sact train-detector: trains a detector on annotated images, or goes on with a run.
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/torch_plugin.h"
#include "train/detection_settings.h"

namespace sact::cli {
namespace {

struct TrainDetectorOptions {
  CommonOptions common;
  std::string config, run, data, init;
  std::vector<std::string> assignments;
  bool list_settings = false;
};

int run(const TrainDetectorOptions& options) {
  if (options.list_settings) {
    print(train::detection_settings_help());
    return 0;
  }
  if (options.run.empty()) throw CLI::RequiredError("--out");
  train::TrainRequest request;
  request.config = options.config;
  request.run = options.run;
  request.device = options.common.device;
  request.threads = options.common.threads;
  if (!options.data.empty()) request.assignments.push_back("data=" + options.data);
  if (!options.init.empty()) request.assignments.push_back("init=" + options.init);
  request.assignments.insert(request.assignments.end(), options.assignments.begin(),
                             options.assignments.end());
  catch_interrupts();
  request.interrupted = was_interrupted;
  const train::TrainDetectorOutcome outcome = torch_plugin().train_detector(request);
  const int status = outcome.finished ? 0 : interrupted_status();
  if (!outcome.first) return status;
  if (options.common.json) {
    print_json({{"run", options.run},
                {"finished", outcome.finished},
                {"epochs", outcome.epochs},
                {"steps", outcome.steps},
                {"seconds", outcome.seconds},
                {"AP", outcome.ap},
                {"best_AP", outcome.best_ap},
                {"flops", outcome.flops}});
  } else if (outcome.finished) {
    print(fmt::format("finished {} epochs in {}: best AP {:.1f} %", outcome.epochs,
                      format_duration(outcome.seconds), 100 * outcome.best_ap));
    print(fmt::format("look at {0}/summary.html; next: sact detect {0}/best.safetensors IMAGE",
                      options.run));
  } else {
    print(fmt::format("stopped at step {}, saved in {}; run the same command to go on",
                      outcome.steps, options.run));
  }
  return status;
}

}  // namespace

void declare_train_detector(CLI::App& app, Action& action) {
  auto options = std::make_shared<TrainDetectorOptions>();
  CLI::App* command =
      app.add_subcommand("train-detector", "Train a detector on images with annotated boxes");
  command
      ->add_option("--data", options->data,
                   "Folder with COCO or Pascal VOC annotations, or synthetic")
      ->type_name("DATA");
  command->add_option("--out", options->run, "Run folder; one that is there is resumed")
      ->type_name("DIR");
  command->add_option("--init", options->init, "Classifier or detector to start from")
      ->type_name("MODEL");
  command->add_option("--config", options->config, "JSON file with settings")->type_name("FILE");
  command->add_option("settings", options->assignments, "Settings as key=value, over --config")
      ->type_name("KEY=VALUE");
  command->add_flag("--settings", options->list_settings, "List the settings and nothing else");
  add_common_options(*command, options->common);
  set_examples(*command,
               "  sact train-detector --data coco --out runs/coco --init sact.safetensors\n"
               "  sact train-detector --data synthetic:size=128,count=2000,val=200 "
               "--out runs/try \\\n"
               "             train=train val=val shorter_side=128 stem=small unit=basic "
               "width=16 \\\n"
               "             units=2,2,2,2 anchor_sizes=24,48 halting=sact rate=0.01\n"
               "\n" +
                   train::detection_settings_help());
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
