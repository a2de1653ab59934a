// sact new: a model file with fresh random weights, so that everything can be tried untrained.
#include <cmath>
#include <memory>
#include <optional>

#include "app/outputs.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "data/class_names.h"
#include "model/detection.h"
#include "model/flops.h"
#include "model/initial_weights.h"
#include "model/model_file.h"

namespace sact::cli {
namespace {

struct NewOptions {
  CommonOptions common;
  std::string spec_file, out, halting, stem, unit, labels_file, dtype = "f32";
  std::optional<int> depth, width, classes, tile, input_size;
  std::vector<int> units;
  std::optional<double> epsilon, score_floor;
  bool plain_halting = false, detect = false;
  InitialWeights initial;
};

/// The given spec file or the defaults, then every option that was given.
ModelSpec spec_of(const NewOptions& options) {
  constexpr int kDetectedClasses = 80;  // of COCO
  ModelSpec spec;
  if (options.detect) spec.classes = kDetectedClasses;
  if (!options.spec_file.empty()) {
    const auto bytes = read_file(options.spec_file, 64 << 20);
    spec = spec_from_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                          options.spec_file);
  }
  if (!options.stem.empty()) spec.stem = stem_from_name(options.stem, "--stem");
  if (!options.unit.empty()) spec.unit = unit_from_name(options.unit, "--unit");
  if (!options.halting.empty()) spec.halting = halting_from_name(options.halting, "--halting");
  if (options.depth) spec.units = units_of_depth(*options.depth);
  if (!options.units.empty()) spec.units = options.units;
  if (options.width) spec.width = *options.width;
  if (options.tile) spec.tile = *options.tile;
  if (options.epsilon) spec.epsilon = *options.epsilon;
  if (options.score_floor) spec.score_floor = *options.score_floor;
  if (options.input_size) spec.input.size = *options.input_size;
  if (options.plain_halting) spec.halting_norm = false;
  if (options.detect && !spec.detection) spec.detection.emplace();
  if (!options.labels_file.empty()) {
    spec.labels = data::read_class_names(options.labels_file);
    spec.classes = int(spec.labels.size());
  }
  if (options.classes) spec.classes = *options.classes;
  validate(spec, "the new network");
  return spec;
}

int run(const NewOptions& options) {
  constexpr int64_t kMaxParameters = 2'000'000'000;
  if (!std::isfinite(options.initial.halting_bias) ||
      !std::isfinite(options.initial.halting_scale)) {
    fail("--halting-bias and --halting-scale must be finite");
  }
  const ModelSpec spec = spec_of(options);
  app::protect_inputs({options.labels_file}, {{"--out", options.out}});
  check_writable(options.out);  // before the work, not after it
  const int64_t parameters = parameter_count(spec);
  if (parameters > kMaxParameters) {
    fail("this network would have {} parameters, more than the {} that one file may hold",
         format_grouped(parameters), format_grouped(kMaxParameters));
  }
  write_model(options.out, spec, initial_weights(spec, options.initial),
              storage_dtype(options.dtype));
  const Size size = own_size(spec);
  const int64_t flops = dense_flops(image_network(spec), size);
  if (options.common.json) {
    print_json({{"out", options.out},
                {"spec", io::Json::parse(to_json(spec))},
                {"dtype", io::dtype_name(storage_dtype(options.dtype))},
                {"parameters", parameters},
                {"height", size.height},
                {"width", size.width},
                {"flops", flops}});
    return 0;
  }
  print(fmt::format("wrote {}: {} in {}, halting {}, {} parameters, {} at {}x{}", options.out,
                    pluralize(spec.total_units(), "unit"), pluralize(spec.blocks(), "block"),
                    name_of(spec.halting), format_grouped(parameters), format_flops(double(flops)),
                    size.height, size.width));
  print_hint(fmt::format("next: sact info {0}, or sact {1} {0} IMAGE", options.out,
                         spec.detection ? "detect" : "predict"));
  return 0;
}

}  // namespace

void declare_new(CLI::App& app, Action& action) {
  auto options = std::make_shared<NewOptions>();
  CLI::App* command = app.add_subcommand("new", "Make a model file with fresh random weights");
  auto* depth = command->add_option("--depth", options->depth, "Depth of the usual network")
                    ->check(CLI::IsMember({50, 101, 152}));
  command->add_option("--units", options->units, "Residual units of each block")
      ->delimiter(',')
      ->excludes(depth);
  command
      ->add_option("--spec", options->spec_file,
                   "JSON file with a spec, which can say more than the options (stride_on, "
                   "stem_pool, input); options override it")
      ->type_name("FILE");
  command->add_option("-o,--out", options->out, "Model file to write")
      ->required()
      ->type_name("FILE");
  command
      ->add_option(
          "--halting", options->halting,
          "How positions stop: not at all, all of an image together, or each alone (default: none)")
      ->check(CLI::IsMember({"none", "act", "sact"}));
  command->add_flag("--detect", options->detect,
                    "Make a detector, which finds objects (Faster R-CNN); --spec sets its anchors");
  command->add_option("--classes", options->classes,
                      "Number of classes (default: 1000; 80 with --detect)");
  command->add_option("--labels", options->labels_file, "Text file with one class name a line")
      ->type_name("FILE");
  command->add_option("--width", options->width, "Width of block 1 (default: 64)");
  command
      ->add_option("--stem", options->stem,
                   "First layers: imagenet is 7x7 and pooling, small is 3x3 (default: imagenet)")
      ->check(CLI::IsMember({"imagenet", "small"}));
  command
      ->add_option("--unit", options->unit,
                   "Kind of residual units; in those of version 1 norms come after convolutions, "
                   "as in most published networks (default: bottleneck)")
      ->check(CLI::IsMember(unit_names()));
  command->add_option("--tile", options->tile, "Side of the tiles that halt together (default: 1)");
  command->add_option("--epsilon", options->epsilon,
                      "A position halts when its scores reach 1 - epsilon (default: 0.01)");
  command->add_option("--score-floor", options->score_floor,
                      "Floor under halting scores: h = max(0, (s - floor) / (1 - floor)) for a "
                      "sigmoid s (default: 0)");
  command->add_flag("--no-halting-norm", options->plain_halting,
                    "Halting scores without batch norm: the paper's plain form");
  command->add_option("--halting-bias", options->initial.halting_bias, "Initial halting bias")
      ->check(CLI::Range(-100.0, 100.0))
      ->capture_default_str();
  command
      ->add_option("--halting-scale", options->initial.halting_scale,
                   "Standard deviation of initial halting weights")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 100.0));
  command->add_option("--input-size", options->input_size,
                      "Side of evaluation images (default: 224)");
  command->add_option("--dtype", options->dtype, "Storage of large weights")
      ->check(CLI::IsMember({"f32", "f16", "bf16"}))
      ->capture_default_str();
  command->add_option("--seed", options->initial.seed, "Seed of the random weights")
      ->check(CLI::Range(int64_t{0}, INT64_MAX))
      ->capture_default_str();
  add_output_options(*command, options->common);
  set_examples(*command,
               "  sact new --depth 101 --halting sact --classes 1000 --out m.safetensors\n"
               "  sact new --depth 101 --halting sact --detect --out detector.safetensors\n"
               "  sact new --units 3,3,3 --stem small --unit basic --width 16 --halting sact \\\n"
               "           --classes 10 --input-size 32 --out small.safetensors");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
