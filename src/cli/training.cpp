#include "cli/training.h"

#include <unistd.h>

#include "app/outputs.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/help.h"
#include "cli/interrupt.h"

namespace sact::cli {

void add_data_options(CLI::App& command, TrainingOptions& options, const std::string& data_help,
                      const std::string& init_help) {
  command.add_option("--data", options.data, data_help)->type_name("DATA");
  command.add_option("--init", options.init, init_help)->type_name("MODEL");
}

std::vector<std::string> setting_beginnings(const std::string& defaults) {
  const io::Json settings = io::Json::parse(defaults);
  std::vector<std::string> beginnings;
  for (const auto& [key, value] : settings.items()) beginnings.push_back(key + "=");
  return beginnings;
}

void add_training_options(CLI::App& command, TrainingOptions& options,
                          const std::string& defaults) {
  command
      .add_option("-o,--out", options.run,
                  "Run folder; one that is there is resumed, with its settings")
      ->type_name("DIR");
  command.add_option("--config", options.config, "JSON file with settings")->type_name("FILE");
  command.add_option("settings", options.assignments, "Settings as key=value, over --config")
      ->type_name("KEY=VALUE")
      ->check(begins_with(setting_beginnings(defaults)));
  command.add_flag("--settings", options.list_settings, "List the settings and nothing else");
  add_common_options(command, options.common);
}

train::TrainRequest training_request(const TrainingOptions& options) {
  if (options.run.empty()) throw CLI::RequiredError("--out");
  app::protect_inputs({options.config},
                      {{"--out", std::filesystem::path(options.run) / "settings.json"}});
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
  return request;
}

void print_settings(const TrainingOptions& options, const std::string& help,
                    const std::string& defaults) {
  if (options.common.json) return print_json({{"settings", io::Json::parse(defaults)}});
  print_lines(wrapped_sections(help, help_columns(), colour_wanted(STDOUT_FILENO)));
}

int print_outcome(const TrainingOptions& options, const train::TrainOutcome& outcome,
                  const TrainingWords& words, const std::string& next) {
  const int status = outcome.finished ? 0 : interrupted_status();
  if (!outcome.first) return status;
  const std::string epochs = pluralize(outcome.epochs, "epoch");
  const std::string best =
      fmt::format("best {} {}", words.score, words.score_text(outcome.best_score));
  if (options.common.json) {
    print_json({{"out", options.run},
                {"finished", outcome.finished},
                {"epochs", outcome.epochs},
                {"steps", outcome.steps},
                {"seconds", outcome.seconds},
                {words.score, outcome.score},
                {fmt::format("best_{}", words.score), outcome.best_score},
                {"flops", outcome.flops}});
  } else if (outcome.finished_before) {
    print(fmt::format("{} is finished: {}, {}; epochs={} would go on", options.run, epochs, best,
                      3 * outcome.epochs / 2 + 1));
  } else if (outcome.finished) {
    print(fmt::format("finished {} in {}: {}", epochs, format_duration(outcome.seconds), best));
    print_hint(fmt::format("look at {}/summary.html; next: {}", options.run, next));
  } else {
    print(fmt::format(
        "stopped at step {0}, saved in {1}; run the same command to go on, or sact {2} --out {1}",
        outcome.steps, options.run, words.command));
  }
  return status;
}

}  // namespace sact::cli
