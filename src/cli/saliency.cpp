// sact saliency: ponder cost maps as a model of where people look.
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/backend.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/saliency_report.h"
#include "io/resize.h"
#include "model/preprocess.h"
#include "saliency/evaluate.h"

namespace sact::cli {
namespace {

namespace fs = std::filesystem;

/// The centre map: a file, or a Gaussian of any size.
struct CenterOptions {
  std::string file, variable = "center";
  double sigma = saliency::kCenterSigma;
};

class Center {
 public:
  explicit Center(const CenterOptions& options) : sigma_(options.sigma) {
    if (!options.file.empty()) map_ = saliency::read_center(options.file, options.variable);
  }
  Map at(Size size) const {
    return map_ ? io::resized(*map_, size) : saliency::center_gaussian(size, sigma_);
  }

 private:
  std::optional<Map> map_;
  double sigma_;
};

/// What `center` and `eval` share: which images, and how they are scored.
struct ScoringOptions {
  CommonOptions common;
  CenterOptions center;
  std::string data, fixations, variable = "fixLocs", part, csv, per_image;
  saliency::ScoreOptions score;
};

struct EvalOptions {
  ScoringOptions scoring;
  std::string model, size = "180x320";
  BackendOptions backend;
  std::vector<double> blurs = {1, 2, 3, 5, 7, 10, 15, 20};
  std::vector<double> weights = {0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5};
};

struct MapOptions {
  CommonOptions common;
  CenterOptions center;
  saliency::PostProcess settings = {5, 2};  // found on CAT2000, see docs/saliency.md
  std::string model, fixations, variable = "fixLocs", out = "saliency-maps";
  BackendOptions backend;
  std::vector<std::string> images;
  int side = 180;
  double temperature = 0.2, density_sigma = 0;
};

class Clock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

saliency::Part part_from(const std::string& name) {
  return name == "first"    ? saliency::Part::kFirstHalf
         : name == "second" ? saliency::Part::kSecondHalf
                            : saliency::Part::kAll;
}

/// The work of a command, which Ctrl-C gives up.
saliency::Work interruptible_work(const CommonOptions& common) {
  catch_interrupts();
  return {common.threads, was_interrupted};
}

/// Output that cannot be written must not cost the work first.
void check_outputs(const ScoringOptions& options) {
  for (const std::string& file : {options.csv, options.per_image}) {
    if (!file.empty()) check_writable(file);
  }
}

void write_outputs(const ScoringOptions& options, const SaliencyResult& result) {
  if (!options.csv.empty()) {
    write_file_atomically(options.csv, report::to_csv(saliency_numbers(result)));
  }
  if (!options.per_image.empty()) {
    write_file_atomically(options.per_image, report::to_csv(image_numbers(result)));
  }
}

void print_table(const ScoringOptions& options, const SaliencyResult& result) {
  std::string text = report::to_text(saliency_table(result));
  text.pop_back();
  print(text);
  for (const std::string& file : {options.csv, options.per_image}) {
    if (!file.empty()) print(fmt::format("wrote {}", file));
  }
}

std::vector<saliency::Item> chosen_items(const ScoringOptions& options) {
  auto items = saliency::part_of(saliency::list_items(options.data, options.fixations),
                                 part_from(options.part));
  if (items.empty()) fail("{}: no category has a {} half", options.data, options.part);
  return items;
}

int run_center(const ScoringOptions& options) {
  const Clock clock;
  check_outputs(options);
  const saliency::Work work = interruptible_work(options.common);
  const Center center(options.center);
  SaliencyResult result;
  result.items = chosen_items(options);
  const auto fixations = saliency::load_fixations(result.items, options.variable, work);
  const saliency::MapOf map = [&](size_t i) { return center.at(fixations[i].size); };
  result.scores = saliency::score({map}, fixations, options.score, work).front();
  write_outputs(options, result);
  if (options.common.json) {
    io::Json json = saliency_json(result);
    json["seconds"] = clock.seconds();
    print_json(json);
    return 0;
  }
  print_table(options, result);
  print(fmt::format("{} in {}", counted(int64_t(result.items.size()), "image"),
                    format_duration(clock.seconds())));
  return 0;
}

/// What the search found, and where.
struct Found {
  saliency::PostProcess settings;
  std::vector<saliency::PostProcess> tried;
  std::vector<double> scores;  // of those; empty when there was nothing to choose
  size_t images = 0;
};

/// A network, the size it sees images at, and how they are shared out.
struct Network {
  Runner& runner;
  const ModelSpec& spec;
  Size size;
  const saliency::Work& work;
};

Found find_settings(const EvalOptions& options, const Network& network, const Center& center,
                    saliency::PonderMaps& used) {
  Found found;
  found.tried = saliency::grid(options.blurs, options.weights);
  found.settings = found.tried.front();
  if (found.tried.size() == 1) return found;
  const auto all = saliency::list_items(options.scoring.data, options.scoring.fixations);
  const auto items = saliency::part_of(all, saliency::Part::kFirstHalf);
  if (items.empty()) {
    fail(
        "{}: no category has two images, so there is no first half to search on; give --blur and "
        "--center-weight one number each",
        options.scoring.data);
  }
  const auto fixations = saliency::load_fixations(items, options.scoring.variable, network.work);
  used = saliency::ponder_maps(network.runner, network.spec, items, fixations, network.size,
                               network.work);
  const Map& first = used.maps.front();
  found.scores = saliency::search(used.maps, fixations, center.at({first.height, first.width}),
                                  found.tried, network.work);
  found.settings = found.tried[saliency::best_of(found.scores)];
  found.images = items.size();
  return found;
}

/// Scores of the network's maps and of the centre map alone.
SaliencyResult scored(const EvalOptions& options, const Network& network, const Center& center,
                      const saliency::PostProcess& settings, saliency::PonderMaps& used) {
  SaliencyResult result;
  result.items = chosen_items(options.scoring);
  const auto fixations =
      saliency::load_fixations(result.items, options.scoring.variable, network.work);
  used = saliency::ponder_maps(network.runner, network.spec, result.items, fixations, network.size,
                               network.work);
  const Map small_center = center.at({used.maps.front().height, used.maps.front().width});
  const saliency::MapOf map = [&](size_t i) {
    return saliency::saliency_map(used.maps[i], small_center, settings);
  };
  const saliency::MapOf alone = [&](size_t i) { return center.at(fixations[i].size); };
  auto scores = saliency::score({map, alone}, fixations, options.scoring.score, network.work);
  result.scores = std::move(scores[0]);
  result.center = std::move(scores[1]);
  return result;
}

io::Json search_json(const Found& found) {
  if (found.scores.empty()) return nullptr;
  io::Json settings = io::Json::array();
  for (size_t i = 0; i < found.tried.size(); ++i) {
    settings.push_back({{"blur", found.tried[i].blur},
                        {"center_weight", found.tried[i].center_weight},
                        {"auc_judd", found.scores[i]}});
  }
  return {{"images", found.images}, {"settings", std::move(settings)}};
}

/// A best setting at the end of its list may have a better one beyond it.
void warn_at_borders(const EvalOptions& options, const Found& found) {
  if (found.scores.empty()) return;
  const auto warn = [](const std::vector<double>& tried, double best, std::string_view option) {
    if (tried.size() < 2 || (best != tried.front() && best != tried.back())) return;
    log_warning("the best {} of those tried, {}, is the first or last of them", option, best);
  };
  warn(options.blurs, found.settings.blur, "--blur");
  warn(options.weights, found.settings.center_weight, "--center-weight");
}

int run_eval(const EvalOptions& options) {
  const Clock clock;
  const Size size = parse_size(options.size);
  const CommonOptions& common = options.scoring.common;
  const Backend backend = chosen_backend(options.backend, common);
  check_outputs(options.scoring);
  const Center center(options.scoring.center);
  const ModelFile model(options.model);
  expect_classifier(model);
  for (const std::string& remark : model.remarks()) log_warning("{}", remark);
  saliency::check_halting(model.spec(), options.model);
  const saliency::Work work = interruptible_work(common);
  const std::unique_ptr<Runner> runner =
      make_runner(model, common, backend, precision_from_name(options.backend.dtype));
  const Network network{*runner, model.spec(), size, work};

  saliency::PonderMaps searched, reported;
  const Found found = find_settings(options, network, center, searched);
  warn_at_borders(options, found);
  const SaliencyResult result = scored(options, network, center, found.settings, reported);
  write_outputs(options.scoring, result);
  const double share =
      (searched.flops + reported.flops) / (searched.dense_flops + reported.dense_flops);
  if (common.json) {
    io::Json json = saliency_json(result);
    json["model"] = model.name();
    json["size"] = {size.height, size.width};
    json["blur"] = found.settings.blur;
    json["center_weight"] = found.settings.center_weight;
    json["search"] = search_json(found);
    json["dense_share"] = share;
    json["seconds"] = clock.seconds();
    print_json(json);
    return 0;
  }
  print_table(options.scoring, result);
  print(fmt::format(
      "blur {:g}, centre weight {:g}{}", found.settings.blur, found.settings.center_weight,
      found.scores.empty()
          ? ""
          : fmt::format(", the best of {} on {} of the first half of each category",
                        found.tried.size(), counted(int64_t(found.images), "image"))));
  print(fmt::format("{} in {}, with {:.1f} % of the dense network's work",
                    counted(int64_t(found.images + result.items.size()), "image"),
                    format_duration(clock.seconds()), 100 * share));
  return 0;
}

/// The fixation map of an image: the file itself, or the one of the same name in a folder.
Map human_density(const MapOptions& options, const fs::path& image) {
  if (options.fixations.empty()) return {};
  fs::path path = options.fixations;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    path = path / image.stem();
    path += ".mat";
    if (!fs::exists(path, ignored)) path.replace_extension(".png");
  }
  const saliency::Fixations fixations = saliency::read_fixations(path, options.variable);
  const double sigma = options.density_sigma > 0 ? options.density_sigma
                                                 : saliency::kOneDegree * fixations.size.width;
  return saliency::density(fixations, sigma);
}

/// Writes the picture of one image.
void draw_map(const MapOptions& options, const Center& center, const ModelSpec& spec,
              Runner& runner, const fs::path& path, const fs::path& out) {
  const io::Image photo = io::read_image(path);
  const Map human = human_density(options, path);
  const View view = whole_view(photo, options.side);
  const ImageResult result =
      runner.run(network_input(photo, view.crop, view.size, spec.input), 1, view.size).front();
  check_finite(result, path.string());
  const Map ponder = ponder_cost_map(result);
  const Map map =
      saliency::saliency_map(ponder, center.at({ponder.height, ponder.width}), options.settings);
  io::write_image(out, saliency_picture(photo, human, saliency::softmax(map, options.temperature),
                                        path.filename().string()));
}

/// No picture may be written over an image that was given.
void check_inputs_stay(const std::vector<Input>& inputs, const std::vector<fs::path>& outputs) {
  std::set<fs::path> written;
  for (const fs::path& out : outputs) written.insert(fs::weakly_canonical(out));
  for (const Input& input : inputs) {
    if (input.error.empty() && written.count(fs::weakly_canonical(input.path))) {
      fail("{}: a picture would be written over this image; choose another --out",
           input.path.string());
    }
  }
}

int run_map(const MapOptions& options) {
  const Clock clock;
  const Backend backend = chosen_backend(options.backend, options.common);
  const Center center(options.center);
  const ModelFile model(options.model);
  expect_classifier(model);
  saliency::check_halting(model.spec(), options.model);
  const std::vector<Input> inputs = expand_inputs(options.images, options.out);
  std::vector<fs::path> outputs;
  for (const std::string& name : unique_names(inputs, ".saliency.png")) {
    outputs.push_back(fs::path(options.out) / name);
  }
  check_inputs_stay(inputs, outputs);
  make_directories(options.out);
  const std::unique_ptr<Runner> runner =
      make_runner(model, options.common, backend, precision_from_name(options.backend.dtype));
  io::Json images = io::Json::array();
  int failed = 0;
  Progress progress("drawing", int64_t(inputs.size()), "images");
  for (size_t i = 0; i < inputs.size(); ++i, progress.advance()) {
    const std::string path = inputs[i].path.string();
    try {
      if (!inputs[i].error.empty()) throw Error(inputs[i].error);
      draw_map(options, center, model.spec(), *runner, inputs[i].path, outputs[i]);
      images.push_back({{"path", path}, {"map", outputs[i].string()}});
    } catch (const Error& error) {
      std::string message = error.what();
      if (message.find(path) == message.npos) message = path + ": " + message;
      print_error(message);
      images.push_back({{"path", path}, {"error", message}});
      ++failed;
    }
  }
  progress.finish();
  if (options.common.json) {
    print_json({{"model", options.model},
                {"images", std::move(images)},
                {"failed", failed},
                {"seconds", clock.seconds()}});
  } else {
    const auto drawn = int64_t(inputs.size()) - failed;
    if (drawn > 0) print(fmt::format("pictures are in {}", options.out));
    print(fmt::format("{} in {}{}", counted(drawn, "image"), format_duration(clock.seconds()),
                      failed ? fmt::format(", {} failed", failed) : ""));
  }
  return failed ? 1 : 0;
}

const CLI::Validator kSigma = number_between(0, 1000);

void add_center_options(CLI::App& command, CenterOptions& options) {
  CLI::Option* file = command
                          .add_option("--center", options.file,
                                      "Centre map: a .mat file or a picture (default: a Gaussian)")
                          ->type_name("FILE");
  command.add_option("--center-variable", options.variable, "Its variable in a .mat file")
      ->needs(file)
      ->capture_default_str();
  command
      .add_option("--center-sigma", options.sigma,
                  "Standard deviation of the Gaussian, as a share of each side")
      ->check(number_between(0.01, 10))
      ->excludes(file)
      ->capture_default_str();
}

void add_density_option(CLI::App& command, double& sigma) {
  command
      .add_option("--density-sigma", sigma,
                  "Blur of the fixations in pixels of their map (default: 35 of 1920, one degree)")
      ->check(number_between(0.1, 1000));
}

void add_variable_option(CLI::App& command, std::string& variable) {
  command.add_option("--variable", variable, "Variable of fixation maps in .mat files")
      ->capture_default_str();
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
  command.add_option("--seed", options.score.seed, "Of AUC-Borji, shuffled AUC and --jitter")
      ->capture_default_str();
  command.add_flag("--jitter", options.score.jitter,
                   "Part equal values of a map by a little chance for AUC-Judd");
  command.add_option("--csv", options.csv, "Also write the means as CSV")->type_name("FILE");
  command.add_option("--per-image", options.per_image, "Write the scores of every image as CSV")
      ->type_name("FILE");
}

void declare_center(CLI::App& parent, Action& action) {
  auto options = std::make_shared<ScoringOptions>();
  CLI::App* command = parent.add_subcommand("center", "How well the centre of an image alone does");
  add_scoring_options(*command, *options, "all");
  add_common_options(*command, options->common);
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
  command->add_option("--size", options->size, "Size at which the network sees images")
      ->type_name("HxW")
      ->capture_default_str();
  command
      ->add_option("--blur", options->blurs,
                   "Standard deviations of the blur to choose from, in positions of the map; "
                   "several are tried on the first half of every category")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(kSigma)
      ->capture_default_str();
  command
      ->add_option("--center-weight", options->weights, "Weights of the centre map to choose from")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(number_between(0, 1e6))
      ->capture_default_str();
  add_backend_options(*command, options->backend);
  add_common_options(*command, options->scoring.common);
  set_examples(*command,
               "  sact saliency eval m.safetensors --data cat2000 --center cat2000/center.mat\n"
               "  sact saliency eval m.safetensors --data cat2000 --blur 10 --center-weight 0.005\n"
               "  sact saliency eval m.safetensors --data photos --fixations maps --csv table.csv");
  command->callback([options, &action] { action = [options] { return run_eval(*options); }; });
}

void declare_map(CLI::App& parent, Action& action) {
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
                   "Show where people looked too: a fixation map, or a folder of them")
      ->type_name("PATH");
  add_variable_option(*command, options->variable);
  add_density_option(*command, options->density_sigma);
  command->add_option("--size", options->side, "Shorter side of what the network sees")
      ->check(CLI::Range(kMinImageSide, kMaxImageSide))
      ->capture_default_str();
  command
      ->add_option("--blur", options->settings.blur,
                   "Standard deviation of the blur, in positions of the map")
      ->check(kSigma)
      ->capture_default_str();
  command
      ->add_option("--center-weight", options->settings.center_weight, "Weight of the centre map")
      ->check(number_between(0, 1e6))
      ->capture_default_str();
  add_center_options(*command, options->center);
  command
      ->add_option("--temperature", options->temperature,
                   "Of the softmax through which the map is shown")
      ->check(number_between(0.001, 1000))
      ->capture_default_str();
  add_backend_options(*command, options->backend);
  add_common_options(*command, options->common);
  set_examples(*command,
               "  sact saliency map m.safetensors photos/ --out maps\n"
               "  sact saliency map m.safetensors cat2000/Stimuli/Action/001.jpg \\\n"
               "       --fixations cat2000/FIXATIONLOCS/Action/001.mat --blur 3 --center-weight 1");
  command->callback([options, &action] { action = [options] { return run_map(*options); }; });
}

}  // namespace

void declare_saliency(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("saliency", "Ponder cost maps as a model of where people look");
  command->require_subcommand(1);
  declare_saliency_eval(*command, action);
  declare_map(*command, action);
  declare_center(*command, action);
  set_examples(*command,
               "  sact saliency eval m.safetensors --data cat2000 --center cat2000/center.mat\n"
               "  sact saliency map m.safetensors photos/\n"
               "  sact saliency center --data cat2000");
}

}  // namespace sact::cli
