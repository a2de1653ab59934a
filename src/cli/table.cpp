// sact table: results of several models as the paper's table and plots.
#include <algorithm>
#include <memory>

#include "app/outputs.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "base/unicode.h"
#include "cli/compute_options.h"
#include "cli/print_block.h"
#include "results/plots.h"
#include "results/table.h"

namespace sact::cli {
namespace {

struct TableOptions {
  CommonOptions common;
  std::vector<std::string> entries, sizes, plot_sizes, curves;
  std::string csv, plots;
  bool markdown = false;
  EvaluationOptions evaluation;
};

EvalResult result_in(const std::string& file, const TableOptions& options) {
  if (std::filesystem::path(file).extension() == ".json") return read_eval_result(file);
  const ModelFile model(file);
  expect_classifier(model);
  if (options.evaluation.request.data.empty()) {
    fail(
        "{}: give --data DATA to evaluate this model, or the .json file that 'sact eval --json' "
        "printed",
        file);
  }
  log_info("evaluating {}", file);
  EvaluationOptions evaluation = options.evaluation;
  evaluation.request.alone = true;
  return evaluate_model(model, evaluation, options.common);
}

std::string file_of(const TableOptions& options, const results::NamedPlot& plot) {
  return (std::filesystem::path(options.plots) / (plot.name + ".svg")).string();
}

std::vector<results::NamedPlot> plots_of(const TableOptions& options,
                                         const std::vector<results::Row>& rows) {
  if (options.plots.empty()) return {};
  const std::vector<Size> sizes = results::chosen_sizes(rows, parse_sizes(options.plot_sizes),
                                                        results::default_plot_sizes(rows));
  return results::paper_plots(rows, sizes, options.curves);
}

/// Throws where --csv or one of these files in --plots is a file that is read.
void check_outputs(const TableOptions& options, const std::vector<results::NamedPlot>& plots) {
  const EvaluationRequest& request = options.evaluation.request;
  std::vector<std::filesystem::path> read = {request.data, request.class_names};
  for (const std::string& argument : options.entries) {
    read.emplace_back(results::split_argument(argument).file);
  }
  std::vector<app::Output> written = {{"--csv", options.csv}};
  for (const results::NamedPlot& plot : plots) {
    written.push_back({"--plots", file_of(options, plot)});
  }
  app::protect_inputs(read, written);
  if (!options.csv.empty()) check_writable(options.csv);
}

std::vector<std::string> write_files(const TableOptions& options,
                                     const std::vector<results::Row>& rows,
                                     const std::vector<Size>& sizes) {
  const std::vector<results::NamedPlot> plots = plots_of(options, rows);
  check_outputs(options, plots);
  std::vector<std::string> files;
  const auto write = [&](const std::string& file, const std::string& text) {
    write_file_atomically(file, text);
    files.push_back(file);
  };
  if (!options.csv.empty()) {
    write(options.csv, report::to_csv(results::numbers_table(rows, sizes)));
  }
  if (!options.plots.empty()) make_directories(options.plots);
  for (const results::NamedPlot& plot : plots) {
    write(file_of(options, plot), report::to_svg(plot.plot));
  }
  return files;
}

void print_tables(const TableOptions& options, const std::vector<results::Row>& rows,
                  const std::vector<Size>& sizes) {
  for (const Size size : sizes) {
    const std::string title = single_line(results::table_title(rows, size));
    const report::Table table = results::results_table(rows, size);
    if (options.markdown) {
      print_block(fmt::format("**{}**\n\n{}", title, report::to_markdown(table)));
    } else {
      print_block(fmt::format("{}\n{}", title, report::to_text(table)));
    }
  }
  const std::string note = results::footnote(rows, sizes);
  if (!note.empty()) print(note);
}

int run(TableOptions& options) {
  if (options.entries.empty()) throw CLI::RequiredError("NAME=FILE");
  check_outputs(options, {});  // what is known now must not cost the evaluations first
  const std::vector<Size> wanted = parse_sizes(options.sizes);
  options.evaluation.request.sizes = wanted;
  std::vector<results::Entry> entries;
  for (const std::string& argument : options.entries) {
    const auto [name, file] = results::split_argument(argument);
    entries.push_back({name, result_in(file, options)});
  }
  const std::vector<results::Row> rows = results::rows_of(entries);
  const std::vector<Size> sizes = results::chosen_sizes(rows, wanted, results::sizes_of(rows));
  for (const Size size : sizes) {
    if (const std::string doubts = results::doubts(rows, size); !doubts.empty()) {
      log_warning("{}", doubts);
    }
  }
  const std::vector<std::string> files = write_files(options, rows, sizes);
  if (options.common.json) {
    io::Json json = results::to_json(rows, sizes);
    json["files"] = files;
    print_json(json);
    return 0;
  }
  print_tables(options, rows, sizes);
  for (const std::string& file : files) log_info("wrote {}", file);
  return 0;
}

}  // namespace

void declare_table(CLI::App& app, Action& action) {
  auto options = std::make_shared<TableOptions>();
  CLI::App* command =
      app.add_subcommand("table", "Compare results of several models: the paper's table and plots");
  command
      ->add_option("entries", options->entries,
                   "A name and a result: a .json file from 'sact eval --json', or a model to "
                   "evaluate now. Results of one NAME are seeds of one row. SERIES:LABEL joins "
                   "rows into a line of the plots; 'X baseline:LABEL' goes beside X, dashed")
      ->type_name("NAME=FILE");
  command
      ->add_option("--size", options->sizes,
                   "Sizes to show, and to evaluate models at (default: all; a model's own)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("HxW")
      ->check(image_size());
  command->add_flag("--markdown", options->markdown, "Tables in Markdown");
  command->add_option("--csv", options->csv, "Also write plain numbers as CSV")->type_name("FILE");
  CLI::Option* plots =
      command->add_option("--plots", options->plots, "Also write the paper's plots as SVG there")
          ->type_name("DIR");
  command
      ->add_option("--plot-sizes", options->plot_sizes,
                   "Sizes of the plots over FLOPs (default: the networks' own and the largest)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->needs(plots)
      ->type_name("HxW")
      ->check(image_size());
  command
      ->add_option("--curves", options->curves,
                   "Rows to draw in the plots over resolutions (default: all)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->needs(plots)
      ->type_name("NAME");
  add_evaluation_options(*command, options->evaluation);
  add_threads_option(*command, options->common);
  add_output_options(*command, options->common);
  set_examples(*command,
               "  sact eval runs/sact-0.005/best.safetensors --data photos --size 128,192 --json "
               "> sact.json\n"
               "  sact table ResNet:50=plain.json SACT:0.005=sact.json \\\n"
               "       'SACT baseline:0.005=baseline.json' --plots plots --markdown\n"
               "  sact table SACT=seed0.json SACT=seed1.json SACT=seed2.json --csv table.csv\n"
               "  sact table plain=plain.safetensors SACT=sact.safetensors --data photos "
               "--size 128,192");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
