// sact export: the same network in a new file: in another precision, with another spec of its input
// and classes, or as ONNX for other runtimes.
#include <memory>
#include <optional>

#include "app/outputs.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/input_options.h"
#include "data/class_names.h"
#include "model/model_file.h"
#include "model/onnx.h"

namespace sact::cli {
namespace {

struct ExportOptions {
  CommonOptions common;
  std::string model, out, onnx, dtype, labels_file;
  InputOptions input;
  std::optional<int> batch;
};

/// The model's own spec, then every option that was given.
ModelSpec spec_of(const ExportOptions& options, const ModelFile& model) {
  ModelSpec spec = model.spec();
  spec.input.mean = options.input.mean_colour().value_or(spec.input.mean);
  spec.input.std = options.input.std_colour().value_or(spec.input.std);
  spec.input.crop = options.input.crop.value_or(spec.input.crop);
  // In an ONNX file the size is that of the graph's input, not of evaluation.
  if (options.onnx.empty()) spec.input.size = options.input.side().value_or(spec.input.size);
  if (!options.labels_file.empty()) {
    spec.labels = data::read_class_names(options.labels_file);
    if (int(spec.labels.size()) != spec.classes) {
      fail("{}: has {}, but the network has {}; give one name a line in the order of the classes",
           options.labels_file, pluralize(int64_t(spec.labels.size()), "name"),
           pluralize(spec.classes, "class", "classes"));
    }
  }
  validate(spec, "the spec of " + (options.onnx.empty() ? options.out : options.onnx));
  return spec;
}

/// What was asked for, else what the model has; 64 bits become 32.
io::Dtype dtype_of(const ExportOptions& options, const ModelFile& model) {
  if (!options.dtype.empty()) return storage_dtype(options.dtype);
  const io::Dtype stored = model.dtype();
  return stored == io::Dtype::kF16 || stored == io::Dtype::kBF16 ? stored : io::Dtype::kF32;
}

int run_onnx(const ExportOptions& options, const ModelFile& model, const ModelSpec& spec) {
  OnnxOptions onnx{options.batch, {}, SACT_VERSION};
  if (!options.input.size.empty()) onnx.image = parse_size(options.input.size);
  write_onnx(
      options.onnx, spec, [&](const WeightInfo& weight) { return model.values(weight); }, onnx);
  const uint64_t bytes = std::filesystem::file_size(options.onnx);
  if (options.common.json) {
    const io::Json any = nullptr;
    print_json({{"model", options.model},
                {"out", options.onnx},
                {"opset", kOnnxOpset},
                {"bytes", bytes},
                {"batch", onnx.batch ? io::Json(*onnx.batch) : any},
                {"height", onnx.image ? io::Json(onnx.image->height) : any},
                {"width", onnx.image ? io::Json(onnx.image->width) : any},
                {"spec", io::Json::parse(to_json(spec))}});
    return 0;
  }
  const std::string size =
      onnx.image ? fmt::format("{}x{}", onnx.image->height, onnx.image->width) : "any size";
  const std::string batch = onnx.batch ? fmt::format("{}", *onnx.batch) : "any number";
  print(fmt::format("wrote {}, ONNX opset {}, {}: takes images of {}, {} at a time", options.onnx,
                    kOnnxOpset, format_bytes(bytes), size, batch));
  return 0;
}

int run(const ExportOptions& options) {
  if (options.out.empty() && options.onnx.empty()) throw CLI::RequiredError("--out or --onnx");
  app::protect_inputs({options.model, options.labels_file},
                      {{"--out", options.out}, {"--onnx", options.onnx}});
  const ModelFile model(options.model);
  for (const std::string& remark : model.remarks()) log_warning("{}", remark);
  const ModelSpec spec = spec_of(options, model);
  if (!options.onnx.empty()) expect_classifier(model);
  if (!options.onnx.empty()) return run_onnx(options, model, spec);
  const io::Dtype dtype = dtype_of(options, model);
  // A curve that was measured stays true while the network sees the same of an image.
  const InputSpec &now = spec.input, &before_export = model.spec().input;
  const bool sees_the_same = now.size == before_export.size && now.crop == before_export.crop &&
                             now.mean == before_export.mean && now.std == before_export.std;
  write_model(options.out, spec, read_weights(model, spec), dtype,
              sees_the_same ? model.dial() : std::nullopt);
  const uint64_t before = std::filesystem::file_size(options.model);
  const uint64_t after = std::filesystem::file_size(options.out);
  if (options.common.json) {
    print_json({{"model", options.model},
                {"out", options.out},
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
      "export",
      "Write a model anew: in another precision, with other input values or class names, as ONNX");
  command->add_option("model", options->model, "Model file")->required()->type_name("MODEL");
  CLI::Option* out =
      command->add_option("-o,--out", options->out, "Model file to write")->type_name("FILE");
  CLI::Option* onnx =
      command
          ->add_option("--onnx", options->onnx,
                       "ONNX file to write instead, from a plain network (halting none)")
          ->type_name("FILE")
          ->excludes(out);
  command->add_option("--dtype", options->dtype, "Storage of large weights (default: as they are)")
      ->check(CLI::IsMember({"f32", "f16", "bf16"}))
      ->excludes(onnx);
  add_input_options(
      *command, options->input,
      "Side of evaluation images; with --onnx, the only size it takes (default: any)");
  command
      ->add_option("--batch", options->batch,
                   "With --onnx, the only number of images it takes at a time (default: any)")
      ->check(CLI::Range(1, 1 << 20))
      ->type_name("N")
      ->needs(onnx);
  command->add_option("--labels", options->labels_file, "Text file with one class name a line")
      ->type_name("FILE");
  add_output_options(*command, options->common);
  set_examples(*command,
               "  sact export runs/sact/best.safetensors --dtype f16 --out small.safetensors\n"
               "  sact export resnetv2_50.safetensors --mean 0.5,0.5,0.5 --std 0.5,0.5,0.5 \\\n"
               "              --crop 0.95 --size 224 --labels imagenet.txt --out r50.safetensors\n"
               "  sact export r50.safetensors --onnx r50.onnx\n"
               "  sact export r50.safetensors --onnx r50-224.onnx --size 224x224 --batch 1");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
