// sact saliency map: saliency maps of images, as pictures.
#include <memory>

#include "app/image_loop.h"
#include "app/picture_folder.h"
#include "app/saliency_map.h"
#include "base/file.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/compute_options.h"
#include "cli/image_options.h"
#include "cli/saliency_options.h"
#include "model/detection.h"
#include "saliency/evaluate.h"

namespace sact::cli {
namespace {

namespace fs = std::filesystem;
using app::Input;

struct MapOptions {
  CommonOptions common;
  app::CenterOptions center;
  app::SaliencyMapOptions maps = {.settings = {3, 1},  // found on CAT2000, docs/saliency.md
                                  .variable = "fixLocs"};
  std::string model, fixations, out = "saliency-maps";
  BackendOptions backend;
  HaltingRequest halting;
  std::vector<std::string> images;
  app::Shard shard;
};

app::PictureFolder picture_folder(const MapOptions& options, const std::vector<Input>& inputs,
                                  const std::vector<app::SaliencyInput>& images) {
  std::vector<fs::path> read = {options.model, options.center.file};
  for (const app::SaliencyInput& image : images) read.push_back(image.item.fixations);
  return app::PictureFolder({options.out,
                             "--out",
                             ".saliency.png",
                             options.images,
                             std::move(read),
                             {},
                             {},
                             !options.shard.whole()},
                            inputs);
}

/// All pictures that were drawn, and what could not be.
struct Outcome {
  io::Json images = io::Json::array();
  int64_t count = 0;
  double flops = 0, dense_flops = 0;
  int failed = 0;
};

void record(const app::SaliencyMapResult& result, const std::string& map, Outcome& outcome) {
  outcome.images.push_back(app::saliency_map_json(result, map));
  outcome.flops += double(result.ponder.flops);
  outcome.dense_flops += double(result.ponder.dense_flops);
  ++outcome.count;
}

void print_summary(const MapOptions& options, const Outcome& outcome, double seconds) {
  if (outcome.count > 0) print(fmt::format("pictures are in {}", options.out));
  std::string text =
      fmt::format("{} in {}", pluralize(outcome.count, "image"), format_duration(seconds));
  if (outcome.failed) text += fmt::format(", {} failed", outcome.failed);
  if (outcome.count > 0) {
    text += fmt::format(", with {:.1f} % of the dense network's work",
                        100 * outcome.flops / outcome.dense_flops);
  }
  print(text);
}

int run_map(const MapOptions& options) {
  Stopwatch watch;
  app::Compute compute = chosen_compute(options.backend, options.common);
  const app::Center center(options.center);
  const ModelFile model(options.model);
  for (const std::string& remark : model.remarks()) log_warning("{}", remark);
  saliency::check_halting(model.spec(), options.model);
  compute.halting = chosen_halting(options.halting, model, own_size(model.spec()));
  app::Skipped skipped;
  const std::vector<Input> inputs =
      app::inputs_of(options.images, options.out, options.shard, skipped);
  const std::vector<app::SaliencyInput> images = app::saliency_inputs(inputs, options.fixations);
  const app::PictureFolder pictures = picture_folder(options, inputs, images);
  const std::unique_ptr<NetworkSession> session = app::open_session(model, compute);
  Outcome outcome;
  Progress progress("drawing", int64_t(images.size()), "images");
  for (size_t i = 0; i < images.size(); ++i) {
    const Input& input = images[i].input;
    const std::string failure = app::failure_of(input, [&] {
      const app::SaliencyMapResult result =
          app::saliency_map(*session, model.spec(), center, images[i], options.maps);
      record(result, pictures.write(i, app::draw_saliency_picture(result.picture)), outcome);
    });
    if (!failure.empty()) {
      print_error(failure);
      outcome.images.push_back({{"path", input.path.string()}, {"error", failure}});
      ++outcome.failed;
    }
    progress.advance();
  }
  progress.finish();
  const double seconds = watch.lap() / 1000;
  if (options.common.json) {
    io::Json json = {{"model", options.model},
                     {"skipped", skipped.json()},
                     {"images", std::move(outcome.images)},
                     {"failed", outcome.failed},
                     {"seconds", seconds}};
    if (outcome.count > 0) {
      json["flops"] = outcome.flops / double(outcome.count);
      json["dense_flops"] = outcome.dense_flops / double(outcome.count);
    }
    if (options.halting.asks()) {
      json["dial"] = dial_json(
          options.halting, compute.halting,
          outcome.count > 0 ? std::optional(outcome.flops / outcome.dense_flops) : std::nullopt);
    }
    print_json(json);
  } else {
    if (skipped.count() > 0) print(skipped.text());
    print_summary(options, outcome, seconds);
    if (options.halting.asks()) print(dial_text(options.halting, compute.halting));
  }
  return outcome.failed ? 1 : 0;
}

}  // namespace

void declare_saliency_map(CLI::App& parent, Action& action) {
  auto options = std::make_shared<MapOptions>();
  CLI::App* command = parent.add_subcommand("map", "Saliency maps of images, as pictures");
  command->add_option("model", options->model, "Model file")->required()->type_name("MODEL");
  command->add_option("images", options->images, "Images, directories or patterns")
      ->required()
      ->type_name("IMAGE");
  command->add_option("-o,--out", options->out, "Directory for the pictures")
      ->type_name("DIR")
      ->capture_default_str();
  command
      ->add_option("--fixations", options->fixations,
                   "Show where people looked too: the fixation map of one image, or a folder that "
                   "has maps where the given directories have images")
      ->type_name("PATH");
  add_variable_option(*command, options->maps.variable);
  add_density_option(*command, options->maps.density_sigma);
  command
      ->add_option("--size", options->maps.side,
                   "Shorter side of what the network sees (default: 180; 360 for a detector)")
      ->check(CLI::Range(kMinImageSide, kMaxImageSide));
  command
      ->add_option("--blur", options->maps.settings.blur,
                   "Standard deviation of the blur, in positions of the map")
      ->check(is_blur())
      ->capture_default_str();
  command
      ->add_option("--center-weight", options->maps.settings.center_weight,
                   "Weight of the centre map; 0 leaves the map with it out")
      ->check(is_center_weight())
      ->capture_default_str();
  add_center_options(*command, options->center);
  add_shard_option(*command, options->shard);
  add_max_pixels_option(*command, options->maps.reading);
  command
      ->add_option("--temperature", options->maps.temperature,
                   "Of the softmax through which maps are shown")
      ->check(number_between(0.001, 1000))
      ->capture_default_str();
  add_backend_options(*command, options->backend);
  add_halting_options(*command, options->halting);
  add_common_options(*command, options->common);
  set_examples(
      *command,
      "  sact saliency map m.safetensors photos/ --out maps\n"
      "  sact saliency map m.safetensors cat2000/Stimuli --fixations cat2000/FIXATIONLOCS\n"
      "  sact saliency map m.safetensors cat2000/Stimuli/Action/001.jpg \\\n"
      "       --fixations cat2000/FIXATIONLOCS/Action/001.mat --center-weight 0");
  command->callback([options, &action] { action = [options] { return run_map(*options); }; });
}

}  // namespace sact::cli
