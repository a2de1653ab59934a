// sact export: the same network in a new file, in another precision or with another spec of its
// input and classes.
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/command.h"
#include "data/class_names.h"
#include "model/model_file.h"

namespace sact::cli {
namespace {

struct ExportOptions {
  CommonOptions common;
  std::string model, out, dtype, labels_file;
  std::vector<double> mean, std;
  std::optional<double> crop;
  std::optional<int> size;
};

/// Takes three numbers of colours, if they were given.
void set_colours(const char* option, const std::vector<double>& given,
                 std::array<double, 3>& colours) {
  if (given.empty()) return;
  for (double value : given) {
    if (!(value >= 0 && value <= 1)) {
      fail("{} has {}, but colours are from 0 to 1 here: divide numbers of 0 to 255 by 255", option,
           value);
    }
  }
  std::copy(given.begin(), given.end(), colours.begin());
}

/// The model's own spec, then every option that was given.
ModelSpec spec_of(const ExportOptions& options, const ModelFile& model) {
  ModelSpec spec = model.spec();
  set_colours("--mean", options.mean, spec.input.mean);
  set_colours("--std", options.std, spec.input.std);
  if (options.crop) spec.input.crop = *options.crop;
  if (options.size) spec.input.size = *options.size;
  if (!options.labels_file.empty()) {
    spec.labels = data::read_class_names(options.labels_file);
    if (int(spec.labels.size()) != spec.classes) {
      fail("{}: has {}, but the network has {}; give one name a line in the order of the classes",
           options.labels_file, counted(int64_t(spec.labels.size()), "name"),
           counted(spec.classes, "class", "classes"));
    }
  }
  validate(spec, "the spec of " + options.out);
  return spec;
}

/// What was asked for, else what the model has; 64 bits become 32.
io::Dtype dtype_of(const ExportOptions& options, const ModelFile& model) {
  if (!options.dtype.empty()) return storage_dtype(options.dtype);
  const io::Dtype stored = model.dtype();
  return stored == io::Dtype::kF16 || stored == io::Dtype::kBF16 ? stored : io::Dtype::kF32;
}

int run(const ExportOptions& options) {
  const ModelFile model(options.model);
  for (const std::string& remark : model.remarks()) log_warning("{}", remark);
  const ModelSpec spec = spec_of(options, model);
  const io::Dtype dtype = dtype_of(options, model);
  write_model(options.out, spec, read_weights(model, spec), dtype);
  const uint64_t before = std::filesystem::file_size(options.model);
  const uint64_t after = std::filesystem::file_size(options.out);
  if (options.common.json) {
    print_json({{"path", options.out},
                {"dtype", io::dtype_name(dtype)},
                {"bytes", after},
                {"spec", io::Json::parse(to_json(spec))}});
  } else {
    print(fmt::format("wrote {} with weights in {}: {} instead of {}", options.out,
                      io::dtype_name(dtype), format_bytes(after), format_bytes(before)));
  }
  return 0;
}

}  // namespace

void declare_export(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = app.add_subcommand(
      "export", "Write a model anew: in another precision, with other input values or class names");
  command->add_option("model", options->model, "Model file")->required()->type_name("MODEL");
  command->add_option("--out", options->out, "Model file to write")->required()->type_name("FILE");
  command
      ->add_option("--dtype", options->dtype,
                   "Storage of large weights: f32, f16 or bf16 (default: as they are)")
      ->check(CLI::IsMember({"f32", "f16", "bf16"}));
  command->add_option("--mean", options->mean, "Mean colour to subtract, from 0 to 1")
      ->delimiter(',')
      ->expected(3)
      ->option_text("R,G,B");
  command->add_option("--std", options->std, "Deviation of colours to divide by, from 0 to 1")
      ->delimiter(',')
      ->expected(3)
      ->option_text("R,G,B");
  command->add_option("--crop", options->crop, "Share of each side that the central crop keeps")
      ->type_name("F");
  command->add_option("--size", options->size, "Side of evaluation images")->type_name("N");
  command->add_option("--labels", options->labels_file, "Text file with one class name a line")
      ->type_name("FILE");
  add_common_options(*command, options->common);
  set_examples(*command,
               "  sact export runs/sact/best.safetensors --dtype f16 --out small.safetensors\n"
               "  sact export resnetv2_50.safetensors --mean 0.5,0.5,0.5 --std 0.5,0.5,0.5 \\\n"
               "              --crop 0.95 --size 224 --labels imagenet.txt --out r50.safetensors");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
