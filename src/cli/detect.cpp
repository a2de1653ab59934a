// sact detect: the objects of images, and where the extractor spent its layers.
#include <memory>

#include "api/kernel_choice.h"
#include "base/file.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "base/threads.h"
#include "cli/backend.h"
#include "cli/coco_report.h"
#include "cli/command.h"
#include "cli/detect_report.h"
#include "cli/image_loop.h"
#include "cli/inputs.h"
#include "detect/detection_set.h"

namespace sact::cli {
namespace {

struct DetectOptions {
  CommonOptions common;
  std::string model, out = "detections", dtype = "fp32", results, gt, data;
  std::vector<std::string> images;
  double score = 0.05, draw = 0.3;
  int most = 100;
  bool no_pictures = false, eval = false;
};

/// Everything that was run, and what could not be.
struct Outcome {
  io::Json images = io::Json::array();
  detect::CocoResults results{"the detections", {}};
  int64_t count = 0, objects = 0;
  double flops = 0, dense_flops = 0;
  std::vector<std::pair<std::string, double>> ms;  // of the stages, of all images
  int failed = 0;
};

/// What goes with every image.
struct Job {
  const DetectOptions& options;
  detect::Detector& detector;
  const detect::CocoIds& ids;
  const StreamedTable& table;
  const detect::CocoInstances& truth;  // of --gt, or empty
};

void check_usage(const DetectOptions& options) {
  if (options.eval && (options.gt.empty() || options.data.empty() || !options.images.empty())) {
    throw CLI::ValidationError("detect", "--eval needs --gt FILE and --data DIR, and no images");
  }
  if (!options.eval && options.images.empty()) {
    throw CLI::ValidationError("detect", "give images, or --eval with --gt FILE and --data DIR");
  }
}

/// Output that cannot be written must not cost the work first.
void check_outputs(const DetectOptions& options) {
  if (!options.results.empty()) check_writable(options.results);
  if (options.no_pictures) return;
  check_folders(options.images, options.out);
  make_directories(options.out);
  check_writable(std::filesystem::path(options.out) / "picture.png");
}

void add_results(const detect::CocoIds& ids, int64_t image, const DetectedFile& file,
                 detect::CocoResults& results) {
  for (const detect::Detection& detection : file.result.detections) {
    const std::optional<int64_t> category = ids.category(detection.label);
    if (!category) continue;
    results.entries.push_back({image, *category, detect::coco_box(detection.box), detection.score});
  }
}

void record(const Job& job, const DetectedFile& file, int64_t image, Outcome& outcome) {
  if (job.options.common.json) {
    io::Json json = detection_json(job.detector.spec(), job.ids, file);
    json["image_id"] = image;
    outcome.images.push_back(std::move(json));
  } else {
    if (outcome.count == 0) print(job.table.header());
    print(job.table.row(detection_cells(job.detector.spec(), file)));
  }
  add_results(job.ids, image, file, outcome.results);
  ++outcome.count;
  outcome.objects += int64_t(file.result.detections.size());
  outcome.flops += double(file.result.extractor.flops);
  outcome.dense_flops += double(file.result.dense_flops);
  const auto times = stage_times(file);
  outcome.ms.resize(times.size());
  for (size_t i = 0; i < times.size(); ++i) {
    outcome.ms[i] = {times[i].first, outcome.ms[i].second + times[i].second};
  }
}

/// Boxes of a picture of another size could not be compared with the annotated ones.
void check_size(const detect::CocoImage& annotated, const DetectedFile& file) {
  if (annotated.size.positions() == 0 || annotated.size == file.size) return;
  detect::fail_of_size(file.path, file.size, annotated.size);
}

void detect_image(const Job& job, const Input& input, int number, const std::string& name,
                  Outcome& outcome) {
  const int64_t id = job.ids.image(input.path, number);
  DetectedFile file;
  file.path = input.path.string();
  Stopwatch watch;
  const io::Image photo = io::read_image(input.path);
  file.size = {photo.height, photo.width};
  file.load_ms = watch.lap();
  if (job.options.eval) check_size(job.truth.images[size_t(number) - 1], file);
  file.result = job.detector.detect(photo, float(job.options.score), job.options.most);
  watch.lap();
  if (!job.options.no_pictures) {
    const std::filesystem::path path = std::filesystem::path(job.options.out) / name;
    io::write_image(path, detection_picture(job.detector.spec(), file, photo, job.options.draw));
    file.picture = path.string();
    file.picture_ms = watch.lap();
  }
  record(job, file, id, outcome);
}

std::vector<Input> inputs_of(const DetectOptions& options, const detect::CocoInstances& truth) {
  if (!options.eval) {
    return expand_inputs(options.images, options.no_pictures ? std::string() : options.out);
  }
  std::error_code ignored;
  if (!std::filesystem::is_directory(options.data, ignored)) {
    fail("{}: there is no such folder", printable(options.data));
  }
  std::vector<Input> inputs;
  for (const detect::CocoImage& image : truth.images) {
    if (image.file_name.empty()) fail("{}: image {} has no file_name", truth.name, image.id);
    inputs.push_back({std::filesystem::path(options.data) / image.file_name, {}});
  }
  return inputs;
}

void detect_all(const DetectOptions& options, const std::vector<Input>& inputs,
                const detect::CocoIds& ids, const detect::CocoInstances& truth,
                detect::Detector& detector, Outcome& outcome) {
  const std::vector<std::string> names = unique_names(inputs, ".detections.png");
  if (!options.no_pictures) check_inputs_stay(inputs, options.out, names);
  const StreamedTable table = detection_table(detector.spec(), paths_of(inputs));
  const Job job{options, detector, ids, table, truth};
  Progress progress("detecting", int64_t(inputs.size()), "images");
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string failure =
        failure_of(inputs[i], [&] { detect_image(job, inputs[i], int(i) + 1, names[i], outcome); });
    if (!failure.empty()) {
      outcome.images.push_back({{"path", inputs[i].path.string()}, {"error", failure}});
      ++outcome.failed;
    }
    progress.advance();
  }
}

void print_summary(const DetectOptions& options, const Outcome& outcome, double seconds) {
  if (outcome.count > 0 && !options.no_pictures) {
    print(fmt::format("pictures are in {}", options.out));
  }
  if (!options.results.empty()) {
    print(fmt::format("wrote {}: {}", options.results,
                      counted(int64_t(outcome.results.entries.size()), "detection")));
  }
  std::string text =
      fmt::format("{} in {}", counted(outcome.count, "image"), format_duration(seconds));
  if (outcome.failed) text += fmt::format(", {} failed", outcome.failed);
  if (outcome.count > 0) {
    text +=
        fmt::format(", {}, with {:.1f} % of the dense extractor's work",
                    counted(outcome.objects, "object"), 100 * outcome.flops / outcome.dense_flops);
  }
  print(text);
  if (outcome.count == 0) return;
  text = "milliseconds an image:";
  for (const auto& [stage, ms] : outcome.ms) {
    text += fmt::format(" {} {:.1f}", stage, ms / double(outcome.count));
  }
  print(text);
}

/// What the text's last lines say: means over the images that were run.
void add_means(const Outcome& outcome, io::Json& json) {
  json["detections"] = outcome.objects;
  if (outcome.count == 0) return;
  const double count = double(outcome.count);
  json["flops"] = outcome.flops / count;
  json["dense_flops"] = outcome.dense_flops / count;
  for (const auto& [stage, ms] : outcome.ms) json["ms"][stage] = ms / count;
}

void warn_of_unknown(const detect::CocoIds& ids, const std::string& annotations) {
  const std::vector<std::string>& labels = ids.unknown_labels();
  if (labels.empty()) return;
  log_warning("{}: has no category for {} of the model ('{}'{}), whose objects are left out",
              annotations, counted(int64_t(labels.size()), "class", "classes"),
              printable(labels.front()), labels.size() > 1 ? ", ..." : "");
}

int run(const DetectOptions& options) {
  check_usage(options);
  Stopwatch watch;
  const ModelFile model(options.model);
  expect_detector(model);
  for (const std::string& remark : model.remarks()) log_warning("{}", remark);
  const detect::CocoInstances truth =
      options.gt.empty() ? detect::CocoInstances{} : detect::read_coco_instances(options.gt);
  const detect::CocoIds ids =
      options.gt.empty() ? detect::CocoIds(model.spec()) : detect::CocoIds(model.spec(), truth);
  const std::vector<Input> inputs = inputs_of(options, truth);
  warn_of_unknown(ids, options.gt);
  check_outputs(options);
  detect::Detector detector(model, api::kernel_table(), precision_from_name(options.dtype),
                            thread_count(options.common.threads));
  Outcome outcome;
  detect_all(options, inputs, ids, truth, detector, outcome);
  if (!options.results.empty()) detect::write_coco_results(options.results, outcome.results);
  std::optional<detect::CocoEvaluation> evaluation;
  if (options.eval) {
    if (outcome.failed > 0) {
      log_warning("objects of the {} that failed count as missed",
                  counted(outcome.failed, "image"));
    }
    evaluation = detect::evaluate_coco(truth, outcome.results, options.common.threads);
  }
  const double seconds = watch.lap() / 1000;
  if (options.common.json) {
    io::Json json = {{"model", options.model},
                     {"images", std::move(outcome.images)},
                     {"failed", outcome.failed},
                     {"seconds", seconds}};
    add_means(outcome, json);
    if (evaluation) json.update(to_json(*evaluation));
    print_json(json);
  } else {
    if (evaluation) print(evaluation_text(*evaluation));
    print_summary(options, outcome, seconds);
  }
  return outcome.failed ? 1 : 0;
}

}  // namespace

void declare_detect(CLI::App& app, Action& action) {
  auto options = std::make_shared<DetectOptions>();
  CLI::App* command = app.add_subcommand(
      "detect", "Find the objects of images and show where the network spent its layers");
  command->add_option("model", options->model, "Model file of a detector")
      ->required()
      ->type_name("MODEL");
  command->add_option("images", options->images, "Image files, directories or patterns")
      ->type_name("IMAGE");
  command->add_option("-o,--out", options->out, "Directory for the pictures")
      ->type_name("DIR")
      ->capture_default_str();
  command->add_flag("--no-pictures", options->no_pictures, "Do not write pictures");
  command->add_option("--score", options->score, "Objects of at least this score are reported")
      ->check(number_between(0, 1))
      ->capture_default_str();
  command->add_option("--max", options->most, "The most objects of an image")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command->add_option("--draw", options->draw, "Objects of at least this score are in the picture")
      ->check(number_between(0, 1))
      ->capture_default_str();
  command
      ->add_option("--results", options->results,
                   "Write all detections in COCO's results format, for 'sact coco-eval'")
      ->type_name("FILE");
  command
      ->add_option("--gt", options->gt,
                   "COCO instance annotations: images and categories get their ids by name "
                   "(without it both are numbered from 1)")
      ->type_name("FILE");
  command->add_flag("--eval", options->eval,
                    "Run on all images of --gt, which lie in --data, and evaluate the result");
  command->add_option("--data", options->data, "Where the images of --gt lie")->type_name("DIR");
  command
      ->add_option("--dtype", options->dtype,
                   "Type of the operands of products: fp32, or bf16 for speed")
      ->check(CLI::IsMember({"fp32", "bf16"}))
      ->capture_default_str();
  add_threads_option(*command, options->common);
  add_output_options(*command, options->common);
  set_examples(*command,
               "  sact detect detector.safetensors street.jpg\n"
               "  sact detect detector.safetensors photos/ --draw 0.5 --out found\n"
               "  sact detect detector.safetensors photos/ --no-pictures --json\n"
               "  sact detect detector.safetensors --eval --gt instances_val2017.json \\\n"
               "              --data val2017 --no-pictures --results results.json");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
