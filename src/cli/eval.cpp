// sact eval: accuracy, FLOPs and units of a model over a data set, at one or many sizes.
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "app/outputs.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/compute_options.h"
#include "model/flops.h"
#include "model/result.h"
#include "report/csv.h"
#include "report/plot.h"
#include "report/table.h"

namespace sact::cli {
namespace {

struct EvalOptions {
  CommonOptions common;
  std::string model, csv, plot, predictions;
  std::vector<std::string> sizes;
  EvaluationOptions evaluation;
};

/// What the network said of every image, written while the evaluation goes on; there may be
/// millions.
class PredictionsFile {
 public:
  explicit PredictionsFile(const std::string& path) : file_(path) {
    file_.write(report::csv_row({"path", "height", "width", "label", "class", "score", "flops"}));
  }

  void add(const evaluation::EvaluatedImage& image) {
    const ScoredClass best = top_classes(image.result.logits, 1).front();
    rows_ += report::csv_row({image.name, fmt::format("{}", image.size.height),
                              fmt::format("{}", image.size.width), fmt::format("{}", image.label),
                              fmt::format("{}", best.index), fmt::format("{:.6g}", best.score),
                              fmt::format("{}", image.result.flops)});
    if (rows_.size() > kBufferBytes) write_rows();
  }

  void commit() {
    write_rows();
    file_.commit();
  }

 private:
  static constexpr size_t kBufferBytes = 1 << 16;
  void write_rows() { file_.write(std::exchange(rows_, {})); }

  AtomicFile file_;
  std::string rows_;
};

report::Table outcome_table(const ModelSpec& spec, const std::vector<EvalOutcome>& outcomes) {
  report::Table table;
  table.header = {"size", "accuracy %", "recall@5 %", "GFLOP", "of dense %"};
  for (int block = 0; block < spec.blocks(); ++block) {
    table.header.push_back(fmt::format("units {}", block + 1));
  }
  table.header.insert(table.header.end(), {"images/s", "network alone"});
  for (const auto& outcome : outcomes) {
    std::vector<std::string> row = {
        fmt::format("{}×{}", outcome.size.height, outcome.size.width),
        fmt::format("{:.2f}", 100 * outcome.accuracy), fmt::format("{:.2f}", 100 * outcome.recall5),
        fmt::format("{:.3f} ± {:.3f}", outcome.flops.mean * 1e-9, outcome.flops.std * 1e-9),
        fmt::format("{:.1f}", 100 * outcome.flops.mean / double(dense_flops(spec, outcome.size)))};
    for (const auto& units : outcome.units) {
      row.push_back(fmt::format("{:.2f} ± {:.2f}", units.mean, units.std));
    }
    for (const double seconds : {outcome.seconds, outcome.network_seconds}) {
      row.push_back(fmt::format("{:.1f}", double(outcome.images) / seconds));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// The same as plain numbers, for programs.
report::Table outcome_numbers(const ModelSpec& spec, const std::vector<EvalOutcome>& outcomes) {
  report::Table table;
  table.header = {"height",  "width", "images",    "accuracy",
                  "recall5", "flops", "flops_std", "dense_flops"};
  for (int block = 0; block < spec.blocks(); ++block) {
    table.header.push_back(fmt::format("units_{}", block + 1));
    table.header.push_back(fmt::format("units_{}_std", block + 1));
  }
  table.header.insert(table.header.end(), {"images_per_second", "network_images_per_second"});
  for (const auto& outcome : outcomes) {
    std::vector<std::string> row;
    auto add = [&](double value) { row.push_back(fmt::format("{}", value)); };
    for (double value :
         {double(outcome.size.height), double(outcome.size.width), double(outcome.images),
          outcome.accuracy, outcome.recall5, outcome.flops.mean, outcome.flops.std,
          double(dense_flops(spec, outcome.size))}) {
      add(value);
    }
    for (const MeanStd& units : outcome.units) {
      add(units.mean);
      add(units.std);
    }
    for (double seconds : {outcome.seconds, outcome.network_seconds}) {
      add(double(outcome.images) / seconds);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string accuracy_plots(const std::vector<EvalOutcome>& outcomes) {
  report::Series by_size, by_flops;
  by_size.markers = by_flops.markers = true;
  for (const auto& outcome : outcomes) {
    by_size.x.push_back(std::sqrt(double(outcome.size.positions())));
    by_flops.x.push_back(outcome.flops.mean * 1e-9);
    by_flops.x_error.push_back(outcome.flops.std * 1e-9);
    by_size.y.push_back(100 * outcome.accuracy);
    by_flops.y.push_back(100 * outcome.accuracy);
  }
  report::Plot resolution, work;
  resolution.title = "Resolution";
  resolution.x_label = "image side";
  resolution.series = {by_size};
  work.title = "FLOPs";
  work.x_label = "GFLOP per image";
  work.series = {by_flops};
  resolution.y_label = work.y_label = "accuracy (%)";
  return report::to_svg({resolution, work}, 2);
}

/// Output that cannot be written must not cost the work first.
void check_outputs(const EvalOptions& options) {
  const evaluation::Request& request = options.evaluation.request;
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
  evaluation::Request& request = options.evaluation.request;
  request.sizes = parse_sizes(options.sizes);
  std::optional<PredictionsFile> predictions;
  if (!options.predictions.empty()) {
    predictions.emplace(options.predictions);
    request.on_image = [&](const evaluation::EvaluatedImage& image) { predictions->add(image); };
  }
  const EvalResult result = evaluate_model(model, options.evaluation, options.common);
  if (predictions) predictions->commit();
  const std::vector<EvalOutcome>& outcomes = result.sizes;
  if (outcomes.empty()) return 0;  // another process has them
  const report::Table table = outcome_table(model.spec(), outcomes);
  if (!options.csv.empty()) {
    write_file_atomically(options.csv, report::to_csv(outcome_numbers(model.spec(), outcomes)));
  }
  if (!options.plot.empty()) write_file_atomically(options.plot, accuracy_plots(outcomes));
  if (options.common.json) {
    print_json(to_json(result));
    return 0;
  }
  std::string text = report::to_text(table);
  text.pop_back();
  print(text);
  print(fmt::format("{} images", outcomes.front().images));
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
      ->type_name("HxW");
  command->add_option("--csv", options->csv, "Also write the numbers as CSV")->type_name("FILE");
  command->add_option("--plot", options->plot, "Plot accuracy over size and FLOPs as SVG")
      ->type_name("FILE");
  command
      ->add_option("--predictions", options->predictions,
                   "Write class, score and FLOPs of every image as CSV")
      ->type_name("FILE");
  add_common_options(*command, options->common);
  set_examples(*command,
               "  sact eval m.safetensors --data photos\n"
               "  sact eval m.safetensors --data photos --size 128,160,192 --csv sizes.csv --json");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
