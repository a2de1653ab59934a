// sact saliency map: saliency maps of images, as pictures.
#include <memory>
#include <set>

#include "base/file.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/backend.h"
#include "cli/inputs.h"
#include "cli/saliency_options.h"
#include "cli/saliency_report.h"
#include "model/preprocess.h"
#include "saliency/dataset.h"
#include "saliency/evaluate.h"

namespace sact::cli {
namespace {

namespace fs = std::filesystem;

struct MapOptions {
  CommonOptions common;
  CenterOptions center;
  saliency::PostProcess settings = {3, 1};  // found on CAT2000 with our Gaussian, docs/saliency.md
  std::string model, fixations, variable = "fixLocs", out = "saliency-maps";
  BackendOptions backend;
  std::vector<std::string> images;
  int side = 180;
  double temperature = 0.2, density_sigma = 0;
};

/// One image: where it comes from and where its picture goes.
struct Job {
  saliency::Item item;  // without fixations where they are not shown
  fs::path out;
  std::string error;  // not empty: why there is nothing to draw
};

/// The fixation map of each image: the file that was given, or one below the folder, at the same
/// place and with the same name as the image has below what was given.
void find_fixations(std::vector<Job>& jobs, const std::vector<Input>& inputs,
                    const fs::path& fixations) {
  std::error_code ignored;
  const bool is_folder = fs::is_directory(fixations, ignored);
  std::vector<saliency::Item> found;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (!jobs[i].error.empty()) continue;
    try {
      jobs[i].item.fixations = is_folder ? saliency::find_fixation_map(
                                               jobs[i].item.image, fixations / inputs[i].relative)
                                         : fixations;
      found.push_back(jobs[i].item);
    } catch (const Error& error) {
      jobs[i].error = error.what();
    }
  }
  saliency::check_own_fixation_maps(found);
}

/// No picture may be written over a file that is read.
void check_inputs_stay(const std::vector<Job>& jobs) {
  std::set<fs::path> written;
  for (const Job& job : jobs) written.insert(fs::weakly_canonical(job.out));
  for (const Job& job : jobs) {
    for (const fs::path& path : {job.item.image, job.item.fixations}) {
      if (!path.empty() && job.error.empty() && written.count(fs::weakly_canonical(path))) {
        fail("{}: a picture would be written over this file; choose another --out", path.string());
      }
    }
  }
}

std::vector<Job> jobs_of(const MapOptions& options) {
  const std::vector<Input> inputs = expand_inputs(options.images, options.out);
  const std::vector<std::string> names = unique_names(inputs, ".saliency.png");
  std::vector<Job> jobs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    jobs.push_back({{{}, inputs[i].path, {}}, fs::path(options.out) / names[i], inputs[i].error});
  }
  if (!options.fixations.empty()) find_fixations(jobs, inputs, options.fixations);
  check_inputs_stay(jobs);
  return jobs;
}

/// Where people looked; empty where that is not shown.
Map human_density(const MapOptions& options, const saliency::Item& item) {
  if (item.fixations.empty()) return {};
  const saliency::Fixations fixations = saliency::read_fixations(item, options.variable);
  const double sigma = options.density_sigma > 0 ? options.density_sigma
                                                 : saliency::kOneDegree * fixations.size.width;
  return saliency::density(fixations, sigma);
}

/// Writes the picture of one image.
void draw_map(const MapOptions& options, const Center& center, const ModelSpec& spec,
              Runner& runner, const Job& job) {
  SaliencyPicture picture;
  picture.photo = io::read_image(job.item.image);
  picture.name = job.item.image.filename().string();
  picture.people = human_density(options, job.item);
  picture.settings = options.settings;
  const View view = whole_view(picture.photo, options.side);
  const ImageResult result =
      runner.run(network_input(picture.photo, view.crop, view.size, spec.input), 1, view.size)
          .front();
  check_finite(result, job.item.image.string());
  const Map ponder = ponder_cost_map(result);
  const Map small_center = center.at({ponder.height, ponder.width});
  const auto shown = [&](double center_weight) {
    const Map map =
        saliency::saliency_map(ponder, small_center, {options.settings.blur, center_weight});
    return saliency::softmax(saliency::normalized(map), options.temperature);
  };
  picture.ponder = shown(0);
  if (options.settings.center_weight > 0) picture.combined = shown(options.settings.center_weight);
  io::write_image(job.out, draw_saliency_picture(picture));
}

int run_map(const MapOptions& options) {
  const Clock clock;
  const Backend backend = chosen_backend(options.backend, options.common);
  const Center center(options.center);
  const ModelFile model(options.model);
  expect_classifier(model);
  saliency::check_halting(model.spec(), options.model);
  const std::vector<Job> jobs = jobs_of(options);
  make_directories(options.out);
  const std::unique_ptr<Runner> runner =
      make_runner(model, options.common, backend, precision_from_name(options.backend.dtype));
  io::Json images = io::Json::array();
  int failed = 0;
  Progress progress("drawing", int64_t(jobs.size()), "images");
  for (const Job& job : jobs) {
    const std::string path = job.item.image.string();
    try {
      if (!job.error.empty()) throw Error(job.error);
      draw_map(options, center, model.spec(), *runner, job);
      images.push_back({{"path", path}, {"map", job.out.string()}});
    } catch (const Error& error) {
      std::string message = error.what();
      if (message.find(path) == message.npos) message = path + ": " + message;
      print_error(message);
      images.push_back({{"path", path}, {"error", message}});
      ++failed;
    }
    progress.advance();
  }
  progress.finish();
  if (options.common.json) {
    print_json({{"model", options.model},
                {"images", std::move(images)},
                {"failed", failed},
                {"seconds", clock.seconds()}});
  } else {
    const auto drawn = int64_t(jobs.size()) - failed;
    if (drawn > 0) print(fmt::format("pictures are in {}", options.out));
    print(fmt::format("{} in {}{}", counted(drawn, "image"), format_duration(clock.seconds()),
                      failed ? fmt::format(", {} failed", failed) : ""));
  }
  return failed ? 1 : 0;
}

}  // namespace

void declare_saliency_map(CLI::App& parent, Action& action) {
  auto options = std::make_shared<MapOptions>();
  CLI::App* command = parent.add_subcommand("map", "Saliency maps of images, as pictures");
  command->add_option("model", options->model, "Model file")->required()->type_name("MODEL");
  command->add_option("images", options->images, "Images, directories or patterns")
      ->required()
      ->type_name("IMAGE");
  command->add_option("--out", options->out, "Directory for the pictures")
      ->type_name("DIR")
      ->capture_default_str();
  command
      ->add_option("--fixations", options->fixations,
                   "Show where people looked too: the fixation map of one image, or a folder that "
                   "has maps where the given directories have images")
      ->type_name("PATH");
  add_variable_option(*command, options->variable);
  add_density_option(*command, options->density_sigma);
  command->add_option("--size", options->side, "Shorter side of what the network sees")
      ->check(CLI::Range(kMinImageSide, kMaxImageSide))
      ->capture_default_str();
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
