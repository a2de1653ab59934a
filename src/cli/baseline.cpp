// sact baseline: the plain network that does about the work of an adaptive one, to train beside it.
#include <memory>

#include "app/outputs.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/compute_options.h"
#include "model/baseline.h"
#include "model/flops.h"

namespace sact::cli {
namespace {

struct BaselineOptions {
  CommonOptions common;
  std::string adaptive, plain, out, result, size;
  EvaluationOptions evaluation;
};

/// A saved result or an evaluation now.
EvalResult result_of(const BaselineOptions& options, const ModelFile& adaptive,
                     std::optional<Size> size) {
  if (!options.result.empty()) {
    EvalResult result = read_eval_result(options.result);
    check_result_of(result, adaptive, options.result);
    return result;
  }
  if (options.evaluation.request.data.empty()) {
    fail("the mean units are needed: give --data DATA to evaluate {}, or --result FILE.json",
         options.adaptive);
  }
  EvaluationOptions evaluation = options.evaluation;
  evaluation.request.alone = true;
  if (size) evaluation.request.sizes = {*size};
  return evaluate_model(adaptive, evaluation, options.common);
}

int run(const BaselineOptions& options) {
  const EvaluationRequest& request = options.evaluation.request;
  app::protect_inputs(
      {options.adaptive, options.plain, options.result, request.data, request.class_names},
      {{"--out", options.out}});
  check_writable(options.out);
  const ModelFile adaptive(options.adaptive), plain(options.plain);
  for (const ModelFile* file : {&adaptive, &plain}) expect_classifier(*file);
  check_baseline_source(adaptive, plain);
  std::optional<Size> size;
  if (!options.size.empty()) size = parse_size(options.size);
  const EvalResult result = result_of(options, adaptive, size);
  const EvalOutcome& outcome =
      choose_outcome(result, size, options.result.empty() ? options.adaptive : options.result);
  const ModelWeights baseline = truncated(plain, baseline_units(outcome.units, plain.spec()));
  write_model(options.out, baseline.spec, baseline.weights);
  const int64_t flops = dense_flops(baseline.spec, outcome.size);
  std::vector<double> mean_units;
  io::Json units_json = io::Json::array();
  for (const MeanStd& units : outcome.units) {
    mean_units.push_back(units.mean);
    units_json.push_back(to_json(units));
  }
  if (options.common.json) {
    print_json({{"model", options.adaptive},
                {"out", options.out},
                {"spec", io::Json::parse(to_json(baseline.spec))},
                {"flops", flops},
                {"height", outcome.size.height},
                {"width", outcome.size.width},
                {"adaptive", {{"units", units_json}, {"flops", to_json(outcome.flops)}}}});
    return 0;
  }
  print(fmt::format("wrote {}: units {}, {} at {}; {} has {:.2f} and {}", options.out,
                    fmt::join(baseline.spec.units, ", "), format_flops(double(flops)),
                    text_of({outcome.size}), options.adaptive, fmt::join(mean_units, ", "),
                    format_flops(outcome.flops.mean)));
  print_hint(fmt::format("next: sact train --init {} --data DATA --out RUN", options.out));
  return 0;
}

}  // namespace

void declare_baseline(CLI::App& app, Action& action) {
  auto options = std::make_shared<BaselineOptions>();
  CLI::App* command =
      app.add_subcommand("baseline", "Make the plain baseline of an adaptive model, to be trained");
  command->add_option("adaptive", options->adaptive, "Adaptive model file")
      ->required()
      ->type_name("ADAPTIVE");
  command
      ->add_option("--from", options->plain,
                   "Plain model file, the first units of whose blocks are taken")
      ->required()
      ->type_name("PLAIN");
  command->add_option("-o,--out", options->out, "Model file to write")
      ->required()
      ->type_name("FILE");
  CLI::Option* result =
      command
          ->add_option("--result", options->result,
                       "Take the mean units from what 'sact eval ADAPTIVE --json' printed")
          ->type_name("FILE");
  command
      ->add_option("--size", options->size,
                   "Image size to evaluate at, or to choose from the result (default: own)")
      ->type_name("HxW")
      ->check(image_size());
  add_evaluation_options(*command, options->evaluation)->excludes(result);
  add_common_options(*command, options->common);
  set_examples(*command,
               "  sact baseline runs/sact/best.safetensors --from runs/plain/best.safetensors \\\n"
               "       --data photos --out baseline.safetensors\n"
               "  sact eval runs/sact/best.safetensors --data photos --json > sact.json\n"
               "  sact baseline runs/sact/best.safetensors --from runs/plain/best.safetensors \\\n"
               "       --result sact.json --out baseline.safetensors\n"
               "  sact train --init baseline.safetensors --data photos --out runs/baseline");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
