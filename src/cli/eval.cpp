// sact eval: accuracy, FLOPs and units of a model over a data set, at one or many sizes.
#include <memory>
#include <optional>

#include "app/evaluation_report.h"
#include "app/outputs.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/compute_options.h"
#include "cli/print_block.h"
#include "model/detection.h"
#include "model/flops.h"

namespace sact::cli {
namespace {

struct EvalOptions {
  CommonOptions common;
  std::string model, csv, plot, predictions;
  std::vector<std::string> sizes;
  EvaluationOptions evaluation;
  HaltingRequest halting;
};

/// The share of the dense network's FLOPs at the first size.
double flops_share(const ModelSpec& spec, const EvalOutcome& outcome) {
  return outcome.flops.mean / double(dense_flops(spec, outcome.size));
}

/// Output that cannot be written must not cost the work first.
void check_outputs(const EvalOptions& options) {
  const EvaluationRequest& request = options.evaluation.request;
  app::protect_inputs(
      {options.model, request.data, request.class_names},
      {{"--csv", options.csv}, {"--plot", options.plot}, {"--predictions", options.predictions}});
  for (const std::string& file : {options.csv, options.plot}) {
    if (!file.empty()) check_writable(file);
  }
  if (!options.predictions.empty() && app::among_several_processes()) {
    fail("--predictions: no process sees all images; start one process without WORLD_SIZE");
  }
}

int run(EvalOptions& options) {
  check_outputs(options);
  const ModelFile model(options.model);
  expect_classifier(model);
  EvaluationRequest& request = options.evaluation.request;
  request.sizes = parse_sizes(options.sizes);
  options.evaluation.halting =
      chosen_halting(options.halting, model,
                     request.sizes.empty() ? own_size(model.spec()) : request.sizes.front());
  std::optional<app::PredictionsFile> predictions;
  if (!options.predictions.empty()) {
    predictions.emplace(options.predictions);
    request.on_image = [&](const EvaluatedImage& image) { predictions->add(image); };
  }
  const EvalResult result = evaluate_model(model, options.evaluation, options.common);
  if (predictions) predictions->commit();
  const std::vector<EvalOutcome>& outcomes = result.sizes;
  if (outcomes.empty()) return 0;  // another process has them
  const report::Table table = app::outcome_table(model.spec(), outcomes);
  if (!options.csv.empty()) {
    write_file_atomically(options.csv,
                          report::to_csv(app::outcome_numbers(model.spec(), outcomes)));
  }
  if (!options.plot.empty()) write_file_atomically(options.plot, app::accuracy_plots(outcomes));
  if (options.common.json) {
    io::Json json = to_json(result);
    if (options.halting.asks()) {
      json["dial"] = dial_json(options.halting, options.evaluation.halting,
                               flops_share(model.spec(), outcomes.front()));
    }
    print_json(json);
    return 0;
  }
  std::string text = report::to_text(table);
  text.pop_back();
  print_block(text);
  print(fmt::format("{} images", outcomes.front().images));
  if (options.halting.asks()) {
    print(fmt::format("{}; {:.1f} % reached",
                      dial_text(options.halting, options.evaluation.halting),
                      100 * flops_share(model.spec(), outcomes.front())));
  }
  for (const std::string& file : {options.csv, options.plot, options.predictions}) {
    if (!file.empty()) print(fmt::format("wrote {}", file));
  }
  return 0;
}

}  // namespace

void declare_eval(CLI::App& app, Action& action) {
  auto options = std::make_shared<EvalOptions>();
  CLI::App* command =
      app.add_subcommand("eval", "Accuracy, FLOPs and units of a model over a data set");
  command->add_option("model", options->model, "Model file")->required()->type_name("MODEL");
  add_evaluation_options(*command, options->evaluation)->required();
  command->add_option("--size", options->sizes, "Image sizes, such as 128,160,192 (default: own)")
      ->delimiter(',')
      ->type_name("HxW")
      ->check(image_size());
  command->add_option("--csv", options->csv, "Also write the numbers as CSV")->type_name("FILE");
  command->add_option("--plot", options->plot, "Plot accuracy over size and FLOPs as SVG")
      ->type_name("FILE");
  command
      ->add_option("--predictions", options->predictions,
                   "Write class, score and FLOPs of every image as CSV")
      ->type_name("FILE");
  add_halting_options(*command, options->halting);
  add_common_options(*command, options->common);
  set_examples(*command,
               "  sact eval m.safetensors --data photos\n"
               "  sact eval m.safetensors --data photos --size 128,160,192 --csv sizes.csv --json");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
