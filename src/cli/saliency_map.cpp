// sact saliency map: saliency maps of images, as pictures.
#include <memory>

#include "app/image_loop.h"
#include "app/picture_folder.h"
#include "base/file.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/compute_options.h"
#include "cli/image_options.h"
#include "cli/saliency_options.h"
#include "saliency/dataset.h"
#include "saliency/evaluate.h"

namespace sact::cli {
namespace {

namespace fs = std::filesystem;
using app::Input;

struct MapOptions {
  CommonOptions common;
  app::CenterOptions center;
  saliency::PostProcess settings = {3, 1};  // found on CAT2000 with our Gaussian, docs/saliency.md
  std::string model, fixations, variable = "fixLocs", out = "saliency-maps";
  BackendOptions backend;
  std::vector<std::string> images;
  app::Shard shard;
  io::ReadOptions reading;
  int side = 0;  // 0: the usual one
  double temperature = 0.2, density_sigma = 0;
};

/// One image.
struct Job {
  Input input;
  saliency::Item item;  // without fixations where they are not shown
};

/// The fixation map of each image: the file that was given, or one below the folder, at the same
/// place and with the same name as the image has below what was given.
void find_fixations(std::vector<Job>& jobs, const fs::path& fixations) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(fixations, ignored);
  std::vector<saliency::Item> found;
  for (Job& job : jobs) {
    if (!job.input.error.empty()) continue;
    try {
      job.item.fixations =
          is_folder ? saliency::find_fixation_map(job.item.image, fixations / job.input.relative)
                    : fixations;
      found.push_back(job.item);
    } catch (const Error& error) {
      job.input.error = error.what();
    }
  }
  saliency::check_own_fixation_maps(found);
}

std::vector<Job> jobs_of(const MapOptions& options, const std::vector<Input>& inputs) {
  std::vector<Job> jobs;
  for (const Input& input : inputs) jobs.push_back({input, {{}, input.path, {}}});
  if (!options.fixations.empty()) find_fixations(jobs, options.fixations);
  return jobs;
}

app::PictureFolder picture_folder(const MapOptions& options, const std::vector<Input>& inputs,
                                  const std::vector<Job>& jobs) {
  std::vector<fs::path> read = {options.model, options.center.file};
  for (const Job& job : jobs) read.push_back(job.item.fixations);
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

/// Where people looked; empty where that is not shown.
Map human_density(const MapOptions& options, const saliency::Item& item) {
  if (item.fixations.empty()) return {};
  const saliency::Fixations fixations = saliency::read_fixations(item, options.variable);
  const double sigma = options.density_sigma > 0 ? options.density_sigma
                                                 : saliency::kOneDegree * fixations.size.width;
  return saliency::density(fixations, sigma);
}

/// What runs, and on what.
struct Network {
  const ModelSpec& spec;
  NetworkSession& session;
  const int side;  // the shorter one of what it sees
};

/// All pictures that were drawn, and what could not be.
struct Outcome {
  io::Json images = io::Json::array();
  int64_t count = 0;
  double flops = 0, dense_flops = 0;
  int failed = 0;
};

/// Writes the picture of one image.
void draw_map(const MapOptions& options, const app::Center& center, const Network& network,
              const Job& job, const app::PictureFolder& pictures, size_t index, Outcome& outcome) {
  app::SaliencyPicture picture;
  picture.photo = read_input(job.input, options.reading);
  picture.name = job.item.image.filename().string();
  picture.people = human_density(options, job.item);
  picture.settings = options.settings;
  const app::PonderMap ponder = app::ponder_map(network.session, network.spec, picture.photo,
                                                network.side, job.item.image.string());
  app::add_maps(ponder.map, center, options.temperature, picture);
  const std::string map = pictures.write(index, app::draw_saliency_picture(picture));
  outcome.images.push_back({{"path", job.item.image.string()},
                            {"height", picture.photo.height},
                            {"width", picture.photo.width},
                            {"scaled_height", ponder.size.height},
                            {"scaled_width", ponder.size.width},
                            {"flops", ponder.flops},
                            {"dense_flops", ponder.dense_flops},
                            {"map", map}});
  outcome.flops += double(ponder.flops);
  outcome.dense_flops += double(ponder.dense_flops);
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
  const app::Compute compute = chosen_compute(options.backend, options.common);
  const app::Center center(options.center);
  const ModelFile model(options.model);
  for (const std::string& remark : model.remarks()) log_warning("{}", remark);
  saliency::check_halting(model.spec(), options.model);
  app::Skipped skipped;
  const std::vector<Input> inputs =
      app::inputs_of(options.images, options.out, options.shard, skipped);
  const std::vector<Job> jobs = jobs_of(options, inputs);
  const app::PictureFolder pictures = picture_folder(options, inputs, jobs);
  const std::unique_ptr<NetworkSession> session = app::open_session(model, compute);
  const Network network{
      model.spec(), *session,
      options.side > 0 ? options.side : saliency::usual_size(model.spec()).height};
  Outcome outcome;
  Progress progress("drawing", int64_t(jobs.size()), "images");
  for (size_t i = 0; i < jobs.size(); ++i) {
    const Job& job = jobs[i];
    const std::string failure = app::failure_of(
        job.input, [&] { draw_map(options, center, network, job, pictures, i, outcome); });
    if (!failure.empty()) {
      print_error(failure);
      outcome.images.push_back({{"path", job.input.path.string()}, {"error", failure}});
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
    print_json(json);
  } else {
    if (skipped.count() > 0) print(skipped.text());
    print_summary(options, outcome, seconds);
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
  add_variable_option(*command, options->variable);
  add_density_option(*command, options->density_sigma);
  command
      ->add_option("--size", options->side,
                   "Shorter side of what the network sees (default: 180; 360 for a detector)")
      ->check(CLI::Range(kMinImageSide, kMaxImageSide));
  command
      ->add_option("--blur", options->settings.blur,
                   "Standard deviation of the blur, in positions of the map")
      ->check(is_blur())
      ->capture_default_str();
  command
      ->add_option("--center-weight", options->settings.center_weight,
                   "Weight of the centre map; 0 leaves the map with it out")
      ->check(is_center_weight())
      ->capture_default_str();
  add_center_options(*command, options->center);
  add_shard_option(*command, options->shard);
  add_max_pixels_option(*command, options->reading);
  command
      ->add_option("--temperature", options->temperature,
                   "Of the softmax through which maps are shown")
      ->check(number_between(0.001, 1000))
      ->capture_default_str();
  add_backend_options(*command, options->backend);
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
