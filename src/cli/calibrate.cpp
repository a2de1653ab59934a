// sact calibrate: what halting shifts come to, stored in the model for --budget.
#include <cmath>
#include <memory>
#include <optional>

#include "app/box_calibration.h"
#include "app/calibration.h"
#include "app/outputs.h"
#include "base/file.h"
#include "base/log.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/compute_options.h"
#include "cli/interrupt.h"
#include "cli/print_block.h"
#include "model/detection.h"

namespace sact::cli {
namespace {

struct CalibrateOptions {
  CommonOptions common;
  std::string model, out, plot, size;
  std::vector<std::string> images, shifts;
  std::optional<double> missed;
  int boxes = 0;
  app::CalibrationOptions calibration;
  EvaluationOptions evaluation;
};

double shift_from(const std::string& text) {
  size_t used = 0;
  double value = NAN;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
  }
  if (used != text.size() || !(std::abs(value) <= kMostHaltingShift)) {
    fail(
        "--shifts: '{}' is no number from {} to {}; give numbers, or FIRST:LAST:COUNT such as "
        "-2:2:9",
        printable(text), -kMostHaltingShift, kMostHaltingShift);
  }
  return value;
}

/// "-2,0,1.5" or "-2:2:9", in rising order.
std::vector<double> parse_shifts(const std::vector<std::string>& texts) {
  constexpr int kMost = 1000;
  std::vector<double> shifts;
  for (const std::string& text : texts) {
    const std::vector<std::string> parts = CLI::detail::split(text, ':');
    if (parts.size() == 1) {
      shifts.push_back(shift_from(text));
      continue;
    }
    const double count = parts.size() == 3 ? shift_from(parts[2]) : 0;
    if (count != std::floor(count) || count < 2 || count > kMost) {
      fail("--shifts: '{}' must be FIRST:LAST:COUNT with a count from 2 to {}, such as -2:2:9",
           printable(text), kMost);
    }
    const double first = shift_from(parts[0]), last = shift_from(parts[1]);
    for (int i = 0; i < int(count); ++i) {
      shifts.push_back(first + (last - first) * i / (count - 1));
    }
  }
  std::sort(shifts.begin(), shifts.end());
  shifts.erase(std::unique(shifts.begin(), shifts.end()), shifts.end());
  return shifts;
}

void check_usage(const CalibrateOptions& options) {
  if (options.images.empty() == options.evaluation.request.data.empty()) {
    throw CLI::ValidationError("calibrate", "give --images DIR or --data DIR, and not both");
  }
}

io::Json json_of(const CalibrateOptions& options, const app::Calibration& calibration,
                 double seconds) {
  io::Json json = {{"model", options.model}};
  json.update(to_json(calibration.dial));
  json["corrected"] = calibration.corrected;
  if (!options.calibration.dense.empty()) json["dense"] = options.calibration.dense;
  if (!options.out.empty()) json["out"] = options.out;
  if (!options.plot.empty()) json["plot"] = options.plot;
  json["seconds"] = seconds;
  return json;
}

void print_summary(const CalibrateOptions& options, const app::Calibration& calibration) {
  const Dial& dial = calibration.dial;
  std::string text = report::to_text(app::dial_table(dial));
  text.pop_back();
  print_block(text);
  print(fmt::format("{} of {}x{}; agreement is with the same weights when nothing halts",
                    pluralize(dial.images, "image"), dial.size.height, dial.size.width));
  if (calibration.corrected) {
    print("some shares rose with the shift; they were made monotone by isotonic regression");
  }
  for (const std::string& file : {options.plot, options.out}) {
    if (!file.empty()) print(fmt::format("wrote {}", file));
  }
  if (options.out.empty()) {
    print_hint("--out FILE stores the curve in a model file, for --budget");
  } else {
    print_hint(fmt::format("next: sact predict {} IMAGE --budget {:.2f}", options.out,
                           (dial.least_share() + dial.largest_share()) / 2));
  }
}

/// Which boxes of a detector are worth a look.
int run_detector(const CalibrateOptions& options, const ModelFile& model) {
  Stopwatch watch;
  if (options.images.empty()) {
    throw CLI::ValidationError("calibrate", "a detector needs photographs: give --images DIR");
  }
  if (!options.plot.empty() || !options.shifts.empty() || !options.size.empty() ||
      !options.calibration.dense.empty()) {
    throw CLI::ValidationError("calibrate",
                               "--plot, --shifts, --size and --dense are not for detectors");
  }
  app::BoxCalibrationOptions calibration;
  calibration.compute = chosen_compute(options.evaluation.backend, options.common);
  calibration.photographs = app::expand_inputs(options.images);
  calibration.most = options.calibration.most;
  const double missed = options.missed.value_or(0.01);
  calibration.missed = missed;
  calibration.boxes = options.boxes;
  calibration.interrupted = was_interrupted;
  app::protect_inputs(app::files_of(calibration.photographs), {{"--out", options.out}});
  if (!options.out.empty()) check_writable(options.out);
  catch_interrupts();
  const app::BoxCalibration result = app::calibrate_boxes(model, calibration);
  if (!options.out.empty()) {
    const int own = model.spec().detection->proposals;
    model.write_with_box_cuts(options.out, result.cuts, options.boxes > 0 ? options.boxes : own);
  }
  if (options.common.json) {
    io::Json json = {{"model", options.model}};
    json.update(app::to_json(result));
    if (!options.out.empty()) json["out"] = options.out;
    json["seconds"] = watch.lap() / 1000;
    print_json(json);
    return 0;
  }
  std::string text = report::to_text(app::box_table(result));
  text.pop_back();
  print_block(text);
  print(fmt::format("{}, {:.0f} boxes in each; {:.1f} % of the objects may come from boxes below",
                    pluralize(result.images, "image"), result.all_boxes, 100 * missed));
  if (options.out.empty()) {
    print_hint("--out FILE stores this in a model file, for 'sact detect'");
  } else {
    print(fmt::format("wrote {}", options.out));
    print_hint(fmt::format("next: sact detect {} IMAGE", options.out));
  }
  return 0;
}

int run(CalibrateOptions& options) {
  check_usage(options);
  Stopwatch watch;
  app::CalibrationOptions& calibration = options.calibration;
  calibration.shifts = parse_shifts(options.shifts);
  calibration.compute = chosen_compute(options.evaluation.backend, options.common);
  const ModelFile model(options.model);
  for (const std::string& remark : model.remarks()) log_warning("{}", remark);
  if (model.spec().detection) return run_detector(options, model);
  if (options.missed || options.boxes > 0) {
    throw CLI::ValidationError("calibrate", "--missed and --boxes are for detectors");
  }
  if (!model.spec().adaptive()) {
    fail("{}: is a plain network, which never halts: there is nothing to calibrate",
         printable(options.model));
  }
  calibration.size = options.size.empty() ? own_size(model.spec()) : parse_size(options.size);
  validate_image_size(calibration.size);
  calibration.photographs = app::expand_inputs(options.images);
  std::vector<std::filesystem::path> read = app::files_of(calibration.photographs);
  read.insert(read.end(), {calibration.dense, options.evaluation.request.data});
  app::protect_inputs(read, {{"--out", options.out}, {"--plot", options.plot}});
  app::protect_inputs({options.model}, {{"--plot", options.plot}});  // --out may be the model
  for (const std::string& file : {options.out, options.plot}) {
    if (!file.empty()) check_writable(file);
  }
  catch_interrupts();
  calibration.data = options.evaluation.request;
  calibration.data.threads = options.common.threads;
  calibration.data.interrupted = was_interrupted;
  const app::Calibration result = app::calibrate(model, calibration);
  if (!options.plot.empty()) write_file_atomically(options.plot, app::dial_plots(result.dial));
  if (!options.out.empty()) model.write_with_dial(options.out, result.dial);
  if (options.common.json) {
    print_json(json_of(options, result, watch.lap() / 1000));
  } else {
    print_summary(options, result);
  }
  return 0;
}

}  // namespace

void declare_calibrate(CLI::App& app, Action& action) {
  auto options = std::make_shared<CalibrateOptions>();
  options->evaluation.request.batch = 8;
  CLI::App* command = app.add_subcommand(
      "calibrate",
      "Measure work and agreement over halting shifts, and store them for --budget; of "
      "a detector, which boxes are worth a look");
  command->add_option("model", options->model, "Model file of an adaptive network, or a detector")
      ->required()
      ->type_name("MODEL");
  command
      ->add_option("--images", options->images,
                   "Photographs without labels: files, directories or patterns")
      ->type_name("IMAGE");
  add_evaluation_options(*command, options->evaluation);
  command
      ->add_option("--dense", options->calibration.dense,
                   "Compare classes with those of this network too")
      ->type_name("MODEL");
  command->add_option("-o,--out", options->out, "Model file to write with the curve; may be MODEL")
      ->type_name("FILE");
  command->add_option("--plot", options->plot, "Draw the curve as SVG")->type_name("FILE");
  command
      ->add_option("--shifts", options->shifts,
                   "Shifts to measure, such as -1,0,1 or -2:2:9 (default: chosen for even steps of "
                   "work)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIST");
  command
      ->add_option("--points", options->calibration.points,
                   "How many to choose, and 0 and one near each end besides")
      ->check(CLI::Range(2, 100))
      ->capture_default_str();
  command->add_option("--count", options->calibration.most, "Images at most, taken evenly from all")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}))
      ->capture_default_str();
  command
      ->add_option("--missed", options->missed,
                   "Detectors: share of objects that boxes without a look may cost (default: 0.01)")
      ->check(number_between(0, 0.5));
  command
      ->add_option("--boxes", options->boxes,
                   "Detectors: the most boxes of an image that are looked at from now on")
      ->check(CLI::Range(1, 10000));
  command->add_option("--size", options->size, "Image size: 224 or HxW (default: the model's own)")
      ->type_name("HxW");
  add_common_options(*command, options->common);
  set_examples(*command,
               "  sact calibrate m.safetensors --images photos --out dial.safetensors\n"
               "  sact calibrate m.safetensors --data imagenette --count 500 --plot dial.svg\n"
               "  sact predict dial.safetensors cat.jpg --budget 0.6\n"
               "  sact calibrate detector.safetensors --images photos --out detector.safetensors");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sact::cli
