// sact info: what a model file holds, its parameters and FLOPs.
#include <memory>

#include "base/log.h"
#include "base/text.h"
#include "cli/command.h"
#include "model/detection.h"
#include "model/flops.h"
#include "model/model_file.h"

namespace sact::cli {
namespace {

struct InfoOptions {
  CommonOptions common;
  std::string model, size;
  bool layers = false;
};

std::string_view domain_name(Domain domain) {
  switch (domain) {
    case Domain::kDense:
      return "all";
    case Domain::kDilated:
      return "dilated";
    case Domain::kActive:
      return "active";
    case Domain::kOnce:
      return "once";
  }
  return "";
}

io::Json layers_json(const std::vector<LayerCost>& layers) {
  io::Json rows = io::Json::array();
  for (const LayerCost& layer : layers) {
    rows.push_back({{"name", layer.name},
                    {"kernel", layer.kernel},
                    {"in_channels", layer.in_channels},
                    {"out_channels", layer.out_channels},
                    {"height", layer.size.height},
                    {"width", layer.size.width},
                    {"evaluated_on", domain_name(layer.domain)},
                    {"halting", layer.halting},
                    {"flops", layer.flops(layer.positions())}});
  }
  return rows;
}

void print_blocks(const ModelSpec& spec, Size size, const std::vector<LayerCost>& layers) {
  const double total = double(dense_flops(spec, size));
  print(fmt::format("  {:<8} {:>6} {:>10} {:>12} {:>12} {:>7}", "part", "units", "channels",
                    "resolution", "FLOPs", "share"));
  auto row = [&](const std::string& name, int block, const std::string& units, int channels,
                 Size resolution, std::string_view only = {}) {
    int64_t flops = 0;
    for (const LayerCost& layer : layers) {
      if (layer.block == block && !layer.halting && (only.empty() || layer.name == only)) {
        flops += layer.flops(layer.positions());
      }
    }
    print(fmt::format("  {:<8} {:>6} {:>10} {:>12} {:>12} {:>6.1f}%", name, units, channels,
                      fmt::format("{}x{}", resolution.height, resolution.width),
                      format_flops(double(flops)), 100 * double(flops) / total));
  };
  const Architecture architecture(spec);
  row("stem", -1, "", spec.stem_channels(), spec.stem_size(size),
      architecture.stem->convolution.name);
  for (int block = 0; block < spec.blocks(); ++block) {
    row(fmt::format("block {}", block + 1), block, fmt::format("{}", spec.units[size_t(block)]),
        spec.block_channels(block), spec.block_size(block, size));
  }
  if (architecture.head) row("head", -1, "", spec.classes, {1, 1}, architecture.head->linear.name);
}

void print_layers(const std::vector<LayerCost>& layers) {
  print(fmt::format("  {:<36} {:>6} {:>12} {:>10} {:>8} {:>16}", "layer", "kernel", "channels",
                    "output", "where", "FLOPs"));
  for (const LayerCost& layer : layers) {
    print(fmt::format("  {:<36} {:>6} {:>12} {:>10} {:>8} {:>16}", layer.name,
                      fmt::format("{0}x{0}", layer.kernel),
                      fmt::format("{}>{}", layer.in_channels, layer.out_channels),
                      fmt::format("{}x{}", layer.size.height, layer.size.width),
                      domain_name(layer.domain), format_grouped(layer.flops(layer.positions()))));
  }
}

int run(const InfoOptions& options) {
  const ModelFile file(options.model);
  const ModelSpec& spec = file.spec();
  const Size size = options.size.empty() ? own_size(spec) : parse_size(options.size);
  const ModelSpec on_images = image_network(spec);
  const std::vector<LayerCost> layers = layer_list(on_images, size);
  const int64_t dense = dense_flops(on_images, size);
  for (const std::string& remark : file.remarks()) log_warning("{}", remark);
  if (options.common.json) {
    io::Json json = {{"model", options.model},
                     {"spec", io::Json::parse(to_json(spec))},
                     {"spec_stored", file.spec_was_stored()},
                     {"dtype", io::dtype_name(file.dtype())},
                     {"parameters", parameter_count(spec)},
                     {"height", size.height},
                     {"width", size.width},
                     {"flops", dense},
                     {"halting_flops", halting_flops(on_images, size)},
                     {"per_layer", layers_json(layers)}};
    if (file.dial()) json["dial"] = to_json(*file.dial());
    print_json(json);
    return 0;
  }
  print(fmt::format("{}: {} network, {} of kind {}, {}{}", options.model,
                    spec.adaptive() ? name_of(spec.halting) : "plain",
                    pluralize(spec.total_units(), "unit"), name_of(spec.unit),
                    pluralize(spec.classes, "class", "classes"),
                    file.spec_was_stored() ? "" : " (spec worked out from the weights)"));
  if (spec.adaptive()) {
    print(fmt::format(
        "  halting: epsilon {}, tile {}, {}{}", spec.epsilon, spec.tile,
        spec.halting_norm ? "with batch norm" : "plain linear scores",
        spec.score_floor > 0 ? fmt::format(", a floor of {} under scores", spec.score_floor) : ""));
  }
  if (file.dial()) {
    print(fmt::format("  dial: budgets from {}, measured on {} of {}x{}", file.dial()->range(),
                      pluralize(file.dial()->images, "image"), file.dial()->size.height,
                      file.dial()->size.width));
  }
  if (spec.detection) {
    print(fmt::format(
        "  a detector: block {} classifies {} proposals of {}x{} cells; FLOPs are those "
        "of the extractor before it",
        spec.blocks(), spec.detection->proposals, spec.detection->cells(),
        spec.detection->cells()));
  }
  print(fmt::format("  parameters: {} ({})", format_grouped(parameter_count(spec)),
                    io::dtype_name(file.dtype())));
  print(fmt::format("  dense FLOPs at {}x{}: {}{}", size.height, size.width, format_grouped(dense),
                    spec.adaptive() ? fmt::format("; halting scores add at most {}",
                                                  format_grouped(halting_flops(on_images, size)))
                                    : ""));
  options.layers ? print_layers(layers) : print_blocks(on_images, size, layers);
  return 0;
}

}  // namespace

void declare_info(CLI::App& app, Action& action) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* command = app.add_subcommand("info", "Show a model's spec, parameters and FLOPs");
  command->add_option("model", options->model, "Model file")->required()->type_name("MODEL");
  command->add_option("--size", options->size, "Image size: 224 or HxW (default: the model's own)")
      ->type_name("HxW")
      ->check(image_size());
  command->add_flag("--layers", options->layers, "List every layer");
  add_output_options(*command, options->common);
  set_examples(*command,
               "  sact info m.safetensors\n"
               "  sact info m.safetensors --size 224x320 --layers\n"
               "  sact info m.safetensors --size 224x224 --json");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
