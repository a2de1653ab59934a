// sact export: the same network in a new file: in another precision, with another spec of its input
// and classes, or as ONNX for other runtimes.
#include <memory>
#include <optional>

#include "app/outputs.h"
#include "app/quantization.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/input_options.h"
#include "cli/interrupt.h"
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
  // Whole numbers of 8 bits.
  std::vector<std::string> photographs;
  std::string ranges = "mse";
  app::QuantizationOptions quantization;
};

constexpr const char* kInt8 = "int8";

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
  if (options.dtype == kInt8) return io::Dtype::kF32;  // of what stays in floats
  if (!options.dtype.empty()) return storage_dtype(options.dtype);
  const io::Dtype stored = model.dtype();
  return stored == io::Dtype::kF16 || stored == io::Dtype::kBF16 ? stored : io::Dtype::kF32;
}

/// Scales of whole numbers: chosen on photographs, or those that the model has; none for a model in
/// floats.
app::Quantization quantization_of(ExportOptions& options, const ModelFile& model,
                                  const ModelSpec& spec) {
  if (!options.photographs.empty()) {
    options.quantization.photographs = app::expand_inputs(options.photographs);
    options.quantization.threads = options.common.threads;
    options.quantization.method = range_method_from_name(options.ranges);
    catch_interrupts();
    options.quantization.interrupted = was_interrupted;
    return app::choose_scales(model, spec, options.quantization);
  }
  const bool wanted = options.dtype.empty() || options.dtype == kInt8;
  if (options.dtype == kInt8 && model.input_scales().empty()) {
    fail("--dtype int8 needs photographs to choose scales on: give --calibrate DIR");
  }
  return {wanted ? model.input_scales() : InputScales{}, 0};
}

void check_usage(const ExportOptions& options) {
  if (options.out.empty() && options.onnx.empty()) throw CLI::RequiredError("--out or --onnx");
  if (!options.photographs.empty() && options.dtype != kInt8) {
    throw CLI::ValidationError("--calibrate", "is for --dtype int8");
  }
  if (!options.onnx.empty() && !options.dtype.empty() && options.dtype != kInt8) {
    throw CLI::ValidationError("--dtype", "with --onnx is int8, or left out for 32 bits");
  }
}

int run_onnx(ExportOptions& options, const ModelFile& model, const ModelSpec& spec) {
  OnnxOptions onnx{options.batch, {}, SACT_VERSION};
  expect_onnx_network(options.onnx, spec);  // before photographs are run
  if (options.dtype == kInt8) onnx.input_scales = quantization_of(options, model, spec).scales;
  if (!options.input.size.empty()) onnx.image = parse_size(options.input.size);
  write_onnx(
      options.onnx, spec, [&](const WeightInfo& weight) { return model.values(weight); }, onnx);
  const uint64_t bytes = std::filesystem::file_size(options.onnx);
  if (options.common.json) {
    const io::Json any = nullptr;
    print_json(
        {{"model", options.model},
         {"out", options.onnx},
         {"opset", kOnnxOpset},
         {"dtype", io::dtype_name(onnx.input_scales.empty() ? io::Dtype::kF32 : io::Dtype::kI8)},
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

int run(ExportOptions& options) {
  check_usage(options);
  std::vector<std::filesystem::path> read(options.photographs.begin(), options.photographs.end());
  read.insert(read.end(), {options.model, options.labels_file});
  app::protect_inputs(read, {{"--out", options.out}, {"--onnx", options.onnx}});
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
  const app::Quantization quantization = quantization_of(options, model, spec);
  const bool whole_numbers = !quantization.scales.empty();
  write_model(options.out, spec, read_weights(model, spec), dtype,
              sees_the_same ? model.dial() : std::nullopt, quantization.scales);
  const uint64_t before = std::filesystem::file_size(options.model);
  const uint64_t after = std::filesystem::file_size(options.out);
  if (options.common.json) {
    io::Json json = {{"model", options.model},
                     {"out", options.out},
                     {"dtype", io::dtype_name(whole_numbers ? io::Dtype::kI8 : dtype)},
                     {"bytes", after},
                     {"spec", io::Json::parse(to_json(spec))}};
    if (quantization.photographs > 0) {
      json["calibration"] = {{"photographs", quantization.photographs}, {"ranges", options.ranges}};
    }
    print_json(json);
  } else {
    const std::string_view type = io::dtype_name(whole_numbers ? io::Dtype::kI8 : dtype);
    print(fmt::format("wrote {} with weights in {}: {} instead of {}", options.out, type,
                      format_bytes(after), format_bytes(before)));
    if (quantization.photographs > 0) {
      print(fmt::format("what layers read was measured on {}",
                        pluralize(quantization.photographs, "photograph")));
    }
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
  command
      ->add_option(
          "--dtype", options->dtype,
          "Storage of large weights (default: as they are); int8 also makes the engine run "
          "in whole numbers of 8 bits. With --onnx: int8 alone, others have 32 bits")
      ->check(CLI::IsMember({"f32", "f16", "bf16", kInt8}));
  command
      ->add_option("--calibrate", options->photographs,
                   "With --dtype int8: photographs, directories or patterns of what the network "
                   "will see, to choose the range of each layer's numbers; labels are not needed")
      ->type_name("IMAGE");
  command
      ->add_option("--calibrate-most", options->quantization.most,
                   "How many of them to run at most, taken evenly from all")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--ranges", options->ranges,
                   "How to choose ranges: the largest number, one that is exceeded once in ten "
                   "thousand, or that of the smallest mean squared error")
      ->check(CLI::IsMember(range_method_names()))
      ->capture_default_str();
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
  add_threads_option(*command, options->common);
  add_output_options(*command, options->common);
  set_examples(
      *command,
      "  sact export runs/sact/best.safetensors --dtype f16 --out small.safetensors\n"
      "  sact export m.safetensors --dtype int8 --calibrate photos/ --out m8.safetensors\n"
      "  sact export resnetv2_50.safetensors --mean 0.5,0.5,0.5 --std 0.5,0.5,0.5 \\\n"
      "              --crop 0.95 --size 224 --labels imagenet.txt --out r50.safetensors\n"
      "  sact export r50.safetensors --onnx r50.onnx\n"
      "  sact export r50.safetensors --onnx r50-224.onnx --size 224x224 --batch 1\n"
      "  sact export r50.safetensors --dtype int8 --calibrate photos/ --onnx r50-int8.onnx");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
