// sact predict: classes and ponder cost maps of images.
#include <memory>
#include <optional>

#include "app/image_loop.h"
#include "app/outputs.h"
#include "app/picture_folder.h"
#include "app/tensor_input.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "base/threads.h"
#include "cli/compute_options.h"
#include "cli/image_options.h"
#include "cli/image_report.h"
#include "cli/interrupt.h"
#include "cli/result_tables.h"
#include "model/detection.h"
#include "model/flops.h"
#include "model/preprocess.h"

namespace sact::cli {
namespace {

using app::Input;
using app::Prediction;

struct PredictOptions {
  CommonOptions common;
  std::string model, size, out = "ponder-maps", tensor, raw;
  BackendOptions backend;
  HaltingRequest halting;
  std::vector<std::string> images;
  int top = 5, batch = 8;
  bool whole = false, no_pictures = false, jsonl = false;
  io::ReadOptions reading;
  app::Shard shard;
};

/// What is summed up over the images.
struct Totals {
  std::vector<Prediction> predictions;  // kept only for --raw
  double flops = 0, dense_flops = 0;
  std::string overview;  // where it was written
  app::Skipped skipped;
  bool interrupted = false;
};

constexpr size_t kOverviewImages = 64;

/// Parts of a job share a folder, and each has an overview of its own.
std::string overview_name(const app::Shard& shard) {
  return shard.whole() ? "overview.png"
                       : fmt::format("overview-{}-of-{}.png", shard.number, shard.count);
}

/// What the network shall see of an image, as the options say.
ViewOptions chosen_view(const PredictOptions& options) {
  ViewOptions view;
  if (options.whole) view.framing = Framing::kKeepAspect;
  if (!options.size.empty()) view.size = parse_size(options.size);
  return view;
}

void record(const PredictOptions& options, const ModelSpec& spec, Prediction prediction,
            ImageReport& report, Totals& totals) {
  report.add([&] { return app::prediction_json(spec, prediction); },
             [&] { return prediction_cells(spec, prediction); });
  totals.flops += double(prediction.result.flops);
  totals.dense_flops += double(prediction.dense_flops);
  if (!options.raw.empty()) totals.predictions.push_back(std::move(prediction));
}

/// The size of the network's input for a file, or nothing when it cannot be run: that is reported
/// when its turn comes.
std::optional<Size> input_size(const PredictOptions& options, const ModelSpec& spec,
                               const Input& input) {
  if (!input.error.empty()) return std::nullopt;
  try {
    return view_of(read_input(input, options.reading), spec.input, chosen_view(options)).size;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

/// With --whole images run at sizes of their own, but the rows of a raw tensor have one. Only the
/// images tell, and they are looked at before the network costs time.
void check_raw_sizes(const PredictOptions& options, const ModelSpec& spec,
                     const std::vector<Input>& inputs) {
  if (options.raw.empty() || !options.whole) return;
  const Input* first = nullptr;
  Size first_size;
  for (const Input& input : inputs) {
    const std::optional<Size> size = input_size(options, spec, input);
    if (!size) continue;
    if (!first) {
      first = &input;
      first_size = *size;
    }
    if (*size != first_size) {
      fail(
          "{}: --raw needs images of one size, but {} would be run at {}x{} and {} at {}x{}; leave "
          "out --whole, or run them one by one",
          options.raw, first->path.string(), first_size.height, first_size.width,
          input.path.string(), size->height, size->width);
    }
  }
}

/// What one image gave; `cell` is its place in the overview.
struct PredictedImage {
  Prediction prediction;
  std::optional<report::PonderSheet::Cell> cell;
};

/// Everything about one image, on one thread: reading, network, picture.
PredictedImage predict_image(const PredictOptions& options, const ModelSpec& spec,
                             NetworkSession& session, const Input& input, size_t index,
                             const app::PictureFolder* pictures) {
  Stopwatch watch;
  const io::RgbImage image = read_input(input, options.reading);
  const double load = watch.lap();
  PredictedImage done;
  Prediction& prediction = done.prediction;
  prediction =
      app::classify(session, spec, image, input.path.string(), {chosen_view(options), options.top});
  prediction.ms.load = load;
  watch.lap();
  if (pictures) {
    const io::RgbImage photo = io::cut(image, prediction.crop);
    prediction.map = pictures->write(index, app::prediction_picture(spec, prediction, photo));
    if (index < kOverviewImages) done.cell = app::overview_cell(spec, prediction, photo);
  }
  prediction.ms.postprocess += watch.lap();
  return done;
}

ImageReport predict_images(const PredictOptions& options, const ModelFile& model,
                           const app::Compute& compute, Totals& totals) {
  const ModelSpec& spec = model.spec();
  const std::vector<Input> inputs =
      app::inputs_of(options.images, options.no_pictures ? std::string() : options.out,
                     options.shard, totals.skipped);
  app::protect_inputs(app::files_of(inputs), {{"--raw", options.raw}});
  check_raw_sizes(options, spec, inputs);
  std::optional<app::PictureFolder> pictures;
  if (!options.no_pictures) {
    pictures.emplace(app::PictureFolderOptions{options.out,
                                               "--out",
                                               ".ponder.png",
                                               options.images,
                                               {options.model},
                                               {overview_name(options.shard)},
                                               {{"--raw", options.raw}},
                                               !options.shard.whole()},
                     inputs);
  }
  Size size = options.size.empty() ? own_size(spec) : parse_size(options.size);
  if (options.whole) size.width *= 2;  // few are longer
  const auto sessions = app::open_sessions(model, compute, inputs.size(), size);
  ImageReport report({options.common.json, options.jsonl},
                     prediction_table(spec, app::paths_of(inputs)));
  report::PonderSheet overview;
  catch_interrupts();
  totals.interrupted = !app::run_images(
      {"predicting", int(sessions.size()), was_interrupted}, inputs,
      [&](int worker, size_t i) {
        return predict_image(options, spec, *sessions[size_t(worker)], inputs[i], i,
                             pictures ? &*pictures : nullptr);
      },
      [&](size_t i, app::ImageOutcome<PredictedImage> image) {
        if (!image.failure.empty()) {
          return report.add_failure(inputs[i].path.string(), image.failure);
        }
        if (image.result.cell) overview.add(std::move(*image.result.cell));
        record(options, spec, std::move(image.result.prediction), report, totals);
      });
  if (overview.size() > 0) {
    const std::filesystem::path path =
        std::filesystem::path(options.out) / overview_name(options.shard);
    io::write_image(path, app::draw_overview(overview), Durability::kUnsynced);
    totals.overview = path.string();
  }
  return report;
}

/// Runs on a ready tensor `image` [N, 3, H, W].
ImageReport predict_tensor(const PredictOptions& options, const ModelFile& model,
                           const app::Compute& compute, Totals& totals) {
  const ModelSpec& spec = model.spec();
  const std::unique_ptr<NetworkSession> session = app::open_session(model, compute);
  Stopwatch watch;
  const app::TensorInput input = app::read_tensor_input(options.tensor);
  const double load = watch.lap() / double(input.count);

  const auto name_of = [&](int64_t i) { return fmt::format("{}#{}", options.tensor, i); };
  ImageReport report({options.common.json, options.jsonl},
                     prediction_table(spec, {name_of(input.count - 1)}));
  catch_interrupts();
  const InputView images = input.view();
  for (int first = 0; first < images.count; first += options.batch) {
    if (was_interrupted()) {
      totals.interrupted = true;
      break;
    }
    const InputView part = images.part(first, std::min(options.batch, images.count - first));
    std::vector<std::string> names;
    for (int i = 0; i < part.count; ++i) names.push_back(name_of(first + i));
    for (Prediction& prediction : app::classify(*session, spec, part, names, options.top)) {
      prediction.ms.load = load;
      record(options, spec, std::move(prediction), report, totals);
    }
  }
  return report;
}

std::vector<std::string> summary_lines(const PredictOptions& options, const ImageReport& report,
                                       const Totals& totals, double seconds) {
  std::vector<std::string> lines;
  if (!totals.overview.empty()) {
    lines.push_back(
        fmt::format("pictures are in {}; all at a glance: {}", options.out, totals.overview));
  }
  if (!options.raw.empty()) lines.push_back(fmt::format("raw tensors are in {}", options.raw));
  if (totals.skipped.count() > 0) lines.push_back(totals.skipped.text());
  std::string text = job_summary(report, seconds, totals.interrupted);
  if (report.done() > 0) {
    text += fmt::format(", with {:.1f} % of the dense network's work",
                        100 * totals.flops / totals.dense_flops);
  }
  lines.push_back(text);
  return lines;
}

int run(const PredictOptions& options) {
  Stopwatch watch;
  if (options.images.empty() == options.tensor.empty()) {
    throw CLI::ValidationError("predict", "give images, or --tensor FILE, and not both");
  }
  if (!options.size.empty()) {  // a bad one should not cost a model load
    const Size size = parse_size(options.size);
    if (options.whole && size.height != size.width) {
      fail("--whole keeps the aspect ratio: give --size one number, the shorter side");
    }
  }
  app::Compute compute = chosen_compute(options.backend, options.common);
  const ModelFile model(options.model);
  expect_classifier(model);
  for (const std::string& remark : model.remarks()) log_warning("{}", remark);
  compute.halting =
      chosen_halting(options.halting, model,
                     options.size.empty() ? own_size(model.spec()) : parse_size(options.size));
  app::protect_inputs({options.model, options.tensor}, {{"--raw", options.raw}});
  if (!options.raw.empty()) check_writable(options.raw);
  Totals totals;
  ImageReport report = options.tensor.empty() ? predict_images(options, model, compute, totals)
                                              : predict_tensor(options, model, compute, totals);
  if (!options.raw.empty()) app::write_raw(options.raw, model.spec(), totals.predictions);
  const double seconds = watch.lap() / 1000;
  io::Json summary = {{"model", options.model},
                      {"interrupted", totals.interrupted},
                      {"skipped", totals.skipped.json()},
                      {"seconds", seconds}};
  std::vector<std::string> lines = summary_lines(options, report, totals, seconds);
  if (options.halting.asks()) {
    const std::optional<double> share =
        report.done() > 0 ? std::optional(totals.flops / totals.dense_flops) : std::nullopt;
    summary["dial"] = dial_json(options.halting, compute.halting, share);
    lines.push_back(dial_text(options.halting, compute.halting));
  }
  report.finish(std::move(summary), lines);
  return job_status(report, totals.interrupted);
}

}  // namespace

void declare_predict(CLI::App& app, Action& action) {
  auto options = std::make_shared<PredictOptions>();
  CLI::App* command =
      app.add_subcommand("predict", "Classify images and show where the network spent its layers");
  command->add_option("model", options->model, "Model file")->required()->type_name("MODEL");
  command
      ->add_option("images", options->images,
                   "Image files, directories or patterns; - reads one from standard input")
      ->type_name("IMAGE");
  command->add_option("-o,--out", options->out, "Directory for the pictures")
      ->type_name("DIR")
      ->capture_default_str();
  command->add_flag("--no-pictures", options->no_pictures, "Do not write pictures");
  command->add_option("--size", options->size, "Input size: 224 or HxW (default: the model's own)")
      ->type_name("HxW")
      ->check(image_size());
  command->add_flag("--whole", options->whole,
                    "Run on the whole image with its aspect ratio, the shorter side being --size; "
                    "without it the central crop is scaled to --size");
  command->add_option("--top", options->top, "How many classes to report")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command
      ->add_option("--tensor", options->tensor,
                   "Run on the tensor 'image' [N,3,H,W] (normalised) of a safetensors file")
      ->type_name("FILE");
  command
      ->add_option("--raw", options->raw,
                   "Write logits, ponder.S and units.S of all images as safetensors")
      ->type_name("FILE");
  command->add_option("--batch", options->batch, "Images at a time with --tensor")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  add_jsonl_option(*command, options->jsonl);
  add_shard_option(*command, options->shard);
  add_max_pixels_option(*command, options->reading);
  add_backend_options(*command, options->backend);
  add_halting_options(*command, options->halting);
  add_common_options(*command, options->common);
  set_examples(*command,
               "  sact predict m.safetensors cat.jpg\n"
               "  sact predict m.safetensors photos/ --whole --size 320 --out maps\n"
               "  sact predict m.safetensors 'photos/*.jpg' --json > results.json\n"
               "  sact predict m.safetensors photos/ --no-pictures --jsonl > results.jsonl\n"
               "  sact predict m.safetensors photos/ --shard 3/16 --jsonl > part3.jsonl\n"
               "  sact predict m.safetensors - < cat.jpg\n"
               "  sact predict m.safetensors --tensor in.safetensors --raw out.safetensors");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
