// sact import: a network that somebody published, as a model file.
#include <memory>
#include <optional>

#include "app/import.h"
#include "cli/command.h"
#include "cli/input_options.h"

namespace sact::cli {
namespace {

struct ImportCommand {
  CommonOptions common;
  std::string source, out, dtype = "f32", labels, stride_on, pool;
  InputOptions input;
  bool bgr = false, rgb = false;
  std::optional<double> norm_epsilon;
};

int run(const ImportCommand& command) {
  app::ImportRequest request{command.source, command.out, storage_dtype(command.dtype), {}};
  importing::ImportOptions& options = request.options;
  if (!command.stride_on.empty()) {
    options.stride_on = stride_on_from_name(command.stride_on, "--stride-on");
  }
  if (!command.pool.empty()) options.pool = stem_pool_from_name(command.pool, "--pool");
  options.norm_epsilon = command.norm_epsilon;
  options.mean = command.input.mean_colour();
  options.std = command.input.std_colour();
  options.crop = command.input.crop;
  options.size = command.input.side();
  if (command.bgr || command.rgb) options.bgr = command.bgr;
  options.labels = command.labels;
  const app::ImportReport report = app::run_import(request);
  if (command.common.json) {
    print_json(report.json());
    return 0;
  }
  for (const std::string& line : report.lines()) print(line);
  print_hint(
      fmt::format("next: sact predict {0} IMAGE, or sact eval {0} --data FOLDER", command.out));
  return 0;
}

}  // namespace

void declare_import(CLI::App& app, Action& action) {
  auto options = std::make_shared<ImportCommand>();
  CLI::App* command = app.add_subcommand(
      "import", "Make a model file of a published network: PyTorch, timm or TensorFlow.js");
  command
      ->add_option(
          "source", options->source,
          "A safetensors file, what torch.save() wrote (.pth), or a TensorFlow.js model.json")
      ->required()
      ->type_name("SOURCE");
  command->add_option("-o,--out", options->out, "Model file to write")
      ->required()
      ->type_name("FILE");
  add_input_options(*command, options->input, "Side of evaluation images");
  CLI::Option* bgr =
      command->add_flag("--bgr", options->bgr,
                        "The network takes blue, green and red: they are swapped in its first "
                        "convolution; --mean and --std stay R,G,B (default: as found)");
  command->add_flag("--rgb", options->rgb, "The network takes red, green and blue")->excludes(bgr);
  command
      ->add_option("--labels", options->labels,
                   "Class names: a JSON array or object, or text with one a line; or imagenet, or "
                   "none (default: imagenet for 1000 classes)")
      ->type_name("FILE");
  command
      ->add_option("--stride-on", options->stride_on,
                   "Convolution of a bottleneck unit that has the stride (default: as found)")
      ->check(CLI::IsMember({"3x3", "1x1"}));
  command->add_option("--pool", options->pool, "Padding of the stem's pooling (default: as found)")
      ->check(CLI::IsMember({"symmetric", "same", "ceil", "valid"}));
  command
      ->add_option("--norm-epsilon", options->norm_epsilon,
                   "Added to the variances of norms (default: as found)")
      ->check(number_between(0, 1))
      ->type_name("F");
  command->add_option("--dtype", options->dtype, "Storage of large weights")
      ->check(CLI::IsMember({"f32", "f16", "bf16"}))
      ->capture_default_str();
  add_output_options(*command, options->common);
  set_examples(*command,
               "  sact import resnet50-0676ba61.pth --out r50.safetensors\n"
               "  sact import resnetv2_50/model.safetensors --dtype f16 --out r50v2.safetensors\n"
               "  sact import package/ResNet50/model.json --labels package/assets/labels.json \\\n"
               "              --out keras50.safetensors");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
