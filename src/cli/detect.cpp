// sact detect: the objects of images, and where the extractor spent its layers.
#include <algorithm>
#include <memory>
#include <optional>

#include "app/backends.h"
#include "app/coco_report.h"
#include "app/detection_job.h"
#include "app/image_loop.h"
#include "app/outputs.h"
#include "base/file.h"
#include "base/log.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/compute_options.h"
#include "cli/image_options.h"
#include "cli/image_report.h"
#include "cli/interrupt.h"
#include "cli/result_tables.h"
#include "model/detection.h"

namespace sact::cli {
namespace {

using app::DetectedFile;
using app::Input;

struct DetectOptions {
  CommonOptions common;
  BackendOptions backend;
  std::string model, out = "detections", results, gt, data;
  std::vector<std::string> images;
  sact::DetectOptions detection;
  HaltingRequest halting;
  double draw = 0.3;
  bool no_pictures = false, eval = false, jsonl = false;
  io::ReadOptions reading;
  app::Shard shard;
};

void check_usage(const DetectOptions& options) {
  if (options.eval && (options.gt.empty() || options.data.empty() || !options.images.empty())) {
    throw CLI::ValidationError("detect", "--eval needs --gt FILE and --data DIR, and no images");
  }
  if (!options.eval && options.images.empty()) {
    throw CLI::ValidationError("detect", "give images, or --eval with --gt FILE and --data DIR");
  }
  if (options.eval && !options.shard.whole()) {
    throw CLI::ValidationError("detect", "--eval needs all images of --gt: leave out --shard");
  }
}

std::vector<Input> chosen_inputs(const DetectOptions& options, const detect::CocoInstances& truth,
                                 app::Skipped& skipped) {
  if (!options.eval) {
    return app::inputs_of(options.images, options.no_pictures ? std::string() : options.out,
                          options.shard, skipped);
  }
  return app::annotated_inputs(truth, options.data);
}

/// False when it was interrupted.
bool detect_all(const app::DetectionJob& job, const std::vector<Input>& inputs,
                const std::vector<std::unique_ptr<detect::ObjectDetector>>& detectors,
                ImageReport& report, app::DetectionTotals& totals) {
  catch_interrupts();
  return app::run_images(
      {"detecting", int(detectors.size()), was_interrupted}, inputs,
      [&](int worker, size_t i) { return job.run(*detectors[size_t(worker)], inputs[i], i); },
      [&](size_t i, app::ImageOutcome<DetectedFile> image) {
        if (!image.failure.empty()) {
          return report.add_failure(inputs[i].path.string(), image.failure);
        }
        const DetectedFile& file = image.result;
        report.add([&] { return app::detection_json(job.spec, job.ids, file); },
                   [&] { return detection_cells(job.spec, file); });
        totals.add(job.ids, file);
      });
}

std::vector<std::string> summary_lines(const DetectOptions& options, const ImageReport& report,
                                       const app::DetectionTotals& totals,
                                       const app::Skipped& skipped, bool interrupted,
                                       double seconds) {
  std::vector<std::string> lines;
  if (report.done() > 0 && !options.no_pictures) {
    lines.push_back(fmt::format("pictures are in {}", options.out));
  }
  if (!options.results.empty()) {
    lines.push_back(fmt::format("wrote {}: {}", options.results,
                                pluralize(int64_t(totals.results.entries.size()), "detection")));
  }
  if (skipped.count() > 0) lines.push_back(skipped.text());
  std::string text = job_summary(report, seconds, interrupted);
  if (report.done() > 0) {
    text +=
        fmt::format(", {} in {:.0f} boxes an image, with {:.1f} % of the dense extractor's work",
                    pluralize(totals.objects, "object"), totals.boxes / double(report.done()),
                    100 * totals.flops / totals.dense_flops);
  }
  lines.push_back(text);
  if (report.done() == 0) return lines;
  text = "milliseconds an image:";
  for (const auto& [stage, ms] : totals.ms) {
    text += fmt::format(" {} {:.1f}", stage, ms / double(report.done()));
  }
  lines.push_back(text);
  if (totals.ponder_images > 0) {
    const double images = double(totals.ponder_images);
    lines.push_back(fmt::format("mean ponder cost {:.2f} in the boxes of objects, {:.2f} outside",
                                totals.ponder.inside / images, totals.ponder.outside / images));
  }
  return lines;
}

void warn_of_unknown(const detect::CocoIds& ids, const std::string& annotations) {
  const std::vector<std::string>& labels = ids.unknown_labels();
  if (labels.empty()) return;
  log_warning("{}: has no category for {} of the model ('{}'{}), whose objects are left out",
              annotations, pluralize(int64_t(labels.size()), "class", "classes"),
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
  app::Skipped skipped;
  const std::vector<Input> inputs = chosen_inputs(options, truth, skipped);
  warn_of_unknown(ids, options.gt);
  std::vector<std::filesystem::path> read = app::files_of(inputs);
  read.insert(read.end(), {options.model, options.gt});
  app::protect_inputs(read, {{"--results", options.results}});
  if (!options.results.empty()) check_writable(options.results);
  std::optional<app::PictureFolder> pictures;
  if (!options.no_pictures) {
    pictures.emplace(app::PictureFolderOptions{options.out,
                                               "--out",
                                               ".detections.png",
                                               options.images,
                                               {options.model, options.gt},
                                               {},
                                               {{"--results", options.results}},
                                               !options.shard.whole()},
                     inputs);
  }
  app::Compute compute = chosen_compute(options.backend, options.common, /*detector=*/true);
  compute.halting = chosen_halting(options.halting, model, own_size(model.spec()));
  const auto detectors = app::open_detectors(model, compute, inputs.size());
  ImageReport report({options.common.json, options.jsonl},
                     detection_table(model.spec(), app::paths_of(inputs)));
  const std::vector<std::vector<Box>> true_boxes = app::boxes_by_image(truth);
  const app::DetectionJob job{.spec = model.spec(),
                              .ids = ids,
                              .options = options.detection,
                              .drawn_score = options.draw,
                              .reading = options.reading,
                              .pictures = pictures ? &*pictures : nullptr,
                              .annotated = options.eval ? &truth : nullptr,
                              .true_boxes = options.eval ? &true_boxes : nullptr};
  app::DetectionTotals totals;
  const bool interrupted = !detect_all(job, inputs, detectors, report, totals);
  if (!options.results.empty()) detect::write_coco_results(options.results, totals.results);
  std::optional<detect::CocoEvaluation> evaluation;
  if (options.eval && !interrupted) {
    if (report.failed() > 0) {
      log_warning("objects of the {} that failed count as missed",
                  pluralize(report.failed(), "image"));
    }
    evaluation = detect::evaluate_coco(truth, totals.results, options.common.threads);
  }
  const double seconds = watch.lap() / 1000;
  io::Json json = {{"model", options.model},
                   {"interrupted", interrupted},
                   {"skipped", skipped.json()},
                   {"seconds", seconds}};
  json.update(totals.json());
  if (options.halting.asks()) {
    json["dial"] = dial_json(
        options.halting, compute.halting,
        report.done() > 0 ? std::optional(totals.flops / totals.dense_flops) : std::nullopt);
  }
  std::vector<std::string> lines =
      summary_lines(options, report, totals, skipped, interrupted, seconds);
  if (options.halting.asks()) lines.push_back(dial_text(options.halting, compute.halting));
  if (evaluation) {
    json.update(to_json(*evaluation));
    lines.insert(lines.begin(), app::evaluation_text(*evaluation));
  }
  report.finish(std::move(json), lines);
  return job_status(report, interrupted);
}

}  // namespace

void declare_detect(CLI::App& app, Action& action) {
  auto options = std::make_shared<DetectOptions>();
  CLI::App* command = app.add_subcommand(
      "detect", "Find the objects of images and show where the network spent its layers");
  command->add_option("model", options->model, "Model file of a detector")
      ->required()
      ->type_name("MODEL");
  command
      ->add_option("images", options->images,
                   "Image files, directories or patterns; - reads one from standard input")
      ->type_name("IMAGE");
  command->add_option("-o,--out", options->out, "Directory for the pictures")
      ->type_name("DIR")
      ->capture_default_str();
  command->add_flag("--no-pictures", options->no_pictures, "Do not write pictures");
  command
      ->add_option("--score", options->detection.score,
                   "Objects of at least this score are reported")
      ->check(number_between(0, 1))
      ->capture_default_str();
  command->add_option("--max", options->detection.most, "The most objects of an image")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command
      ->add_option(
          "--boxes", options->detection.boxes,
          "The most boxes of an image that are looked at (default: the model's own number)")
      ->check(CLI::Range(1, detect::kMostBoxes));
  command->add_flag("--all-boxes", options->detection.all_boxes,
                    "Look at all proposals, also at those in which no object of that score is "
                    "likely");
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
  add_backend_options(*command, options->backend, /*detectors=*/true);
  add_halting_options(*command, options->halting);
  add_jsonl_option(*command, options->jsonl);
  add_shard_option(*command, options->shard);
  add_max_pixels_option(*command, options->reading);
  add_common_options(*command, options->common);
  set_examples(*command,
               "  sact detect detector.safetensors street.jpg\n"
               "  sact detect detector.safetensors photos/ --draw 0.5 --out found\n"
               "  sact detect detector.safetensors photos/ --no-pictures --json\n"
               "  sact detect detector.safetensors --eval --gt instances_val2017.json \\\n"
               "              --data val2017 --no-pictures --results results.json");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
