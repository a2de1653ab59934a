// sact saliency eval and center: how well maps tell where people look, over a data set.
#include <memory>

#include "app/outputs.h"
#include "app/saliency_evaluation.h"
#include "base/file.h"
#include "base/log.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/compute_options.h"
#include "cli/interrupt.h"
#include "cli/print_block.h"
#include "cli/saliency_options.h"
#include "model/preprocess.h"
#include "saliency/evaluate.h"

namespace sact::cli {
namespace {

using app::Center;
using app::SaliencyResult;
using saliency::PonderMaps;

/// What `center` and `eval` share: which images, and how they are scored.
struct ScoringOptions {
  CommonOptions common;
  app::CenterOptions center;
  std::string data, fixations, variable = "fixLocs", part, csv, per_image;
  saliency::ScoreOptions score;
};

struct EvalOptions {
  ScoringOptions scoring;
  std::string model, size;
  BackendOptions backend;
  HaltingRequest halting;
  std::vector<double> blurs = {1, 2, 3, 5, 7, 10, 15, 20};
  std::vector<double> weights = {0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5};
};

/// The work of a command, which Ctrl-C gives up.
saliency::Work interruptible_work(const CommonOptions& common) {
  catch_interrupts();
  return {common.threads, was_interrupted};
}

/// Output that cannot be written must not cost the work first.
void check_outputs(const ScoringOptions& options, const std::string& model = {}) {
  app::protect_inputs({model, options.data, options.fixations, options.center.file},
                      {{"--csv", options.csv}, {"--per-image", options.per_image}});
  for (const std::string& file : {options.csv, options.per_image}) {
    if (!file.empty()) check_writable(file);
  }
}

void write_outputs(const ScoringOptions& options, const SaliencyResult& result) {
  if (!options.csv.empty()) {
    write_file_atomically(options.csv, report::to_csv(app::saliency_numbers(result)));
  }
  if (!options.per_image.empty()) {
    write_file_atomically(options.per_image, report::to_csv(app::image_numbers(result)));
  }
}

void print_table(const ScoringOptions& options, const SaliencyResult& result) {
  std::string text = report::to_text(app::saliency_table(result));
  text.pop_back();
  print_block(text);
  for (const std::string& file : {options.csv, options.per_image}) {
    if (!file.empty()) print(fmt::format("wrote {}", file));
  }
}

saliency::Split needed_images(const ScoringOptions& options, bool with_search) {
  const saliency::Part part = options.part == "first"    ? saliency::Part::kFirstHalf
                              : options.part == "second" ? saliency::Part::kSecondHalf
                                                         : saliency::Part::kAll;
  auto split =
      saliency::split(saliency::list_stimuli(options.data, options.fixations), part, with_search);
  if (split.reported.empty()) fail("{}: no category has a {} half", options.data, options.part);
  if (with_search && split.searched.empty()) {
    fail(
        "{}: no category has two images, so there is no first half to search on; give --blur and "
        "--center-weight one number each",
        options.data);
  }
  return split;
}

int run_center(const ScoringOptions& options) {
  Stopwatch watch;
  check_outputs(options);
  const saliency::Work work = interruptible_work(options.common);
  const Center center(options.center);
  SaliencyResult result;
  result.items = needed_images(options, false).items;
  const auto fixations = saliency::load_fixations(result.items, options.variable, work);
  const saliency::MapOf map = [&](size_t i) { return center.at(fixations[i].size); };
  result.scores = saliency::score({map}, fixations, options.score, work).front();
  write_outputs(options, result);
  const double seconds = watch.lap() / 1000;
  if (options.common.json) {
    io::Json json = app::saliency_json(result);
    json["seconds"] = seconds;
    print_json(json);
    return 0;
  }
  print_table(options, result);
  print(fmt::format("{} in {}", pluralize(int64_t(result.items.size()), "image"),
                    format_duration(seconds)));
  return 0;
}

void warn_at_end(std::string_view option, double best, const std::vector<double>& tried) {
  const saliency::Place place = saliency::place_of(best, tried);
  if (place == saliency::Place::kInside) return;
  const bool highest = place == saliency::Place::kHighest;
  log_warning("the best {}, {:g}, is the {} of those tried; a {} one may be better", option, best,
              highest ? "highest" : "lowest", highest ? "higher" : "lower");
}

/// What makes the result of a search less than it seems.
void warn_about_search(const EvalOptions& options, const app::SearchedSettings& found) {
  if (found.scores.empty()) return;
  warn_at_end("--blur", found.settings.blur, options.blurs);
  warn_at_end("--center-weight", found.settings.center_weight, options.weights);
  if (found.also_reported > 0) {
    log_warning(
        "blur and centre weight were chosen on {} of the images reported on, whose scores are "
        "therefore too good; --part second reports on others",
        found.also_reported);
  }
}

void print_settings(const app::SearchedSettings& found) {
  std::string text = fmt::format("blur {:g}, centre weight {:g}", found.settings.blur,
                                 found.settings.center_weight);
  if (!found.scores.empty()) {
    text += fmt::format(", the best of {} on {} of the first half of each category",
                        found.tried.size(), pluralize(int64_t(found.images), "image"));
  }
  if (found.also_reported > 0) text += ", which are among those above";
  print(text);
}

int run_eval(const EvalOptions& options) {
  Stopwatch watch;
  const ScoringOptions& scoring = options.scoring;
  app::Compute compute = chosen_compute(options.backend, scoring.common);
  check_outputs(scoring, options.model);
  const Center center(scoring.center);
  const ModelFile model(options.model);
  for (const std::string& remark : model.remarks()) log_warning("{}", remark);
  saliency::check_halting(model.spec(), options.model);
  const Size size =
      options.size.empty() ? saliency::usual_size(model.spec()) : parse_size(options.size);
  compute.halting = chosen_halting(options.halting, model, size);
  const saliency::Work work = interruptible_work(scoring.common);
  const std::unique_ptr<NetworkSession> session = app::open_session(model, compute);
  session->expect_memory(1, size);

  // Every file is looked at before the network runs, so that a bad one is found at once.
  const auto settings = saliency::grid(options.blurs, options.weights);
  const saliency::Split split = needed_images(scoring, settings.size() > 1);
  const auto fixations = saliency::load_fixations(split.items, scoring.variable, work);
  const PonderMaps ponder = saliency::ponder_maps(*session, model.spec(), split.items, size, work);
  const Map small_center = center.at({ponder.maps.front().height, ponder.maps.front().width});
  const app::SearchedSettings found =
      app::find_settings(split, fixations, ponder.maps, small_center, settings, work);
  warn_about_search(options, found);
  const SaliencyResult result =
      app::scored(split, fixations, ponder.maps, center, found.settings, scoring.score, work);
  write_outputs(scoring, result);
  const double share = ponder.flops / ponder.dense_flops, seconds = watch.lap() / 1000;
  if (scoring.common.json) {
    io::Json json = app::saliency_json(result);
    json["model"] = model.name();
    json["height"] = size.height;
    json["width"] = size.width;
    json["blur"] = found.settings.blur;
    json["center_weight"] = found.settings.center_weight;
    json["search"] = app::search_json(found);
    json["flops"] = ponder.flops / double(split.items.size());
    json["dense_flops"] = ponder.dense_flops / double(split.items.size());
    if (options.halting.asks()) json["dial"] = dial_json(options.halting, compute.halting, share);
    json["seconds"] = seconds;
    print_json(json);
    return 0;
  }
  print_table(scoring, result);
  print_settings(found);
  print(fmt::format("{} in {}, with {:.1f} % of the dense network's work",
                    pluralize(int64_t(split.items.size()), "image"), format_duration(seconds),
                    100 * share));
  if (options.halting.asks()) print(dial_text(options.halting, compute.halting));
  return 0;
}

void add_scoring_options(CLI::App& command, ScoringOptions& options, const std::string& part) {
  command
      .add_option("--data", options.data,
                  "Folder like CAT2000 (Stimuli, FIXATIONLOCS), or images with --fixations")
      ->required()
      ->type_name("DIR");
  command
      .add_option("--fixations", options.fixations,
                  "Folder of fixation maps, NAME.mat or NAME.png for each NAME of the images")
      ->type_name("DIR");
  add_variable_option(command, options.variable);
  options.part = part;
  command
      .add_option("--part", options.part,
                  "Images to report on: the first or second half of every category, or all")
      ->check(CLI::IsMember({"first", "second", "all"}))
      ->capture_default_str();
  add_center_options(command, options.center);
  add_density_option(command, options.score.density_sigma);
  command.add_option("--seed", options.score.seed, "Seed of AUC-Borji, shuffled AUC and --jitter")
      ->check(CLI::Range(int64_t{0}, INT64_MAX))
      ->capture_default_str();
  command.add_flag("--jitter", options.score.jitter,
                   "Part equal values of a map by a little chance for AUC-Judd");
  command.add_option("--csv", options.csv, "Also write the means as CSV")->type_name("FILE");
  command.add_option("--per-image", options.per_image, "Write the scores of every image as CSV")
      ->type_name("FILE");
}

}  // namespace

void declare_saliency_center(CLI::App& parent, Action& action) {
  auto options = std::make_shared<ScoringOptions>();
  CLI::App* command = parent.add_subcommand("center", "How well the centre of an image alone does");
  add_scoring_options(*command, *options, "all");
  add_threads_option(*command, options->common);
  add_output_options(*command, options->common);
  set_examples(*command,
               "  sact saliency center --data cat2000\n"
               "  sact saliency center --data cat2000 --center cat2000/center.mat --json");
  command->callback([options, &action] { action = [options] { return run_center(*options); }; });
}

void declare_saliency_eval(CLI::App& parent, Action& action) {
  auto options = std::make_shared<EvalOptions>();
  CLI::App* command =
      parent.add_subcommand("eval", "How well a network's ponder cost maps do, over a data set");
  command->add_option("model", options->model, "Model file")->required()->type_name("MODEL");
  add_scoring_options(*command, options->scoring, "second");
  command
      ->add_option("--size", options->size,
                   "Size at which the network sees images (default: 180x320; 360x640 for a "
                   "detector)")
      ->type_name("HxW")
      ->check(image_size());
  command
      ->add_option("--blur", options->blurs,
                   "Standard deviations of the blur to choose from, in positions of the map; "
                   "several are tried on the first half of every category")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(is_blur())
      ->capture_default_str();
  command
      ->add_option("--center-weight", options->weights, "Weights of the centre map to choose from")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(is_center_weight())
      ->capture_default_str();
  add_backend_options(*command, options->backend);
  add_halting_options(*command, options->halting);
  add_common_options(*command, options->scoring.common);
  set_examples(*command,
               "  sact saliency eval m.safetensors --data cat2000 --center cat2000/center.mat\n"
               "  sact saliency eval m.safetensors --data cat2000 --blur 10 --center-weight 0.005\n"
               "  sact saliency eval m.safetensors --data photos --fixations maps --csv table.csv");
  command->callback([options, &action] { action = [options] { return run_eval(*options); }; });
}

}  // namespace sact::cli
