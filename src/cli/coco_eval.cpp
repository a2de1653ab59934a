// sact coco-eval: the COCO bounding-box metrics of detections in a file.
#include <chrono>
#include <memory>

#include "app/coco_report.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/print_block.h"

namespace sact::cli {
namespace {

struct CocoEvalOptions {
  CommonOptions common;
  std::string truth, results;
};

int run(const CocoEvalOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const detect::CocoInstances truth = detect::read_coco_instances(options.truth);
  const detect::CocoResults results = detect::read_coco_results(options.results);
  const detect::CocoEvaluation evaluation =
      detect::evaluate_coco(truth, results, options.common.threads);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (options.common.json) {
    io::Json json = to_json(evaluation);
    json["images"] = truth.images.size();
    json["objects"] = truth.objects.size();
    json["detections"] = results.entries.size();
    json["seconds"] = took.count();
    print_json(json);
    return 0;
  }
  print_block(app::evaluation_text(evaluation));
  print(fmt::format(
      "{} in {}, evaluated in {}", pluralize(int64_t(results.entries.size()), "detection"),
      pluralize(int64_t(truth.images.size()), "image"), format_duration(took.count())));
  return 0;
}

}  // namespace

void declare_coco_eval(CLI::App& app, Action& action) {
  auto options = std::make_shared<CocoEvalOptions>();
  CLI::App* command =
      app.add_subcommand("coco-eval", "Score detections by the COCO bounding-box metrics");
  command->add_option("--gt", options->truth, "Ground truth: COCO instance annotations")
      ->required()
      ->type_name("FILE");
  command->add_option("--dt", options->results, "Detections: a COCO results file")
      ->required()
      ->type_name("FILE");
  add_threads_option(*command, options->common);
  add_output_options(*command, options->common);
  set_examples(*command,
               "  sact coco-eval --gt instances_val2017.json --dt detections.json\n"
               "  sact coco-eval --gt instances_val2017.json --dt detections.json --json");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
