#include "train/loop/banner.h"

#include "base/error.h"
#include "base/text.h"
#include "model/architecture.h"
#include "model/detection.h"
#include "model/flops.h"
#include "model/weights.h"

namespace sact::train {
namespace {

/// "sact network of depth 50 (bottleneck units 3,4,6,3, width 64)".
std::string network_text(const ModelSpec& spec) {
  const size_t convolutions = Architecture(spec).blocks[0][0].convolutions.size();
  return fmt::format("{} {} of depth {} ({} units {}, width {})",
                     spec.adaptive() ? name_of(spec.halting) : "plain",
                     spec.detection ? "detector" : "network",
                     int(convolutions) * spec.total_units() + 2, name_of(spec.unit),
                     fmt::join(spec.units, ","), spec.width);
}

std::string work_text(const ModelSpec& spec) {
  const Size size = own_size(spec);
  return fmt::format("{} parameters, {}{} at {}×{}{}", format_grouped(parameter_count(spec)),
                     spec.detection ? "extractor " : "",
                     format_flops(double(dense_flops(image_network(spec), size))), size.height,
                     size.width, spec.adaptive() ? " where nothing halts" : "");
}

std::string machine_text(const RunFacts& facts) {
  std::string text = fmt::format("{}, {}", facts.device, facts.precision);
  if (facts.processes > 1) text += fmt::format(", {} processes", facts.processes);
  text += fmt::format(", {}, {} for decoding", pluralize(facts.threads, "thread"), facts.workers);
  return facts.images_kept.empty() ? text : text + ", images kept " + facts.images_kept;
}

std::string start_text(const RunFacts& facts) {
  if (facts.step > 0) {
    return fmt::format("resuming {} at epoch {}, step {}", facts.run, facts.epoch + 1, facts.step);
  }
  return facts.init.empty()
             ? fmt::format("starting {} with fresh weights (seed {})", facts.run, facts.seed)
             : fmt::format("starting {} with the weights of {}", facts.run, facts.init);
}

}  // namespace

std::vector<std::string> banner(const RunFacts& facts) {
  return {
      fmt::format("data     {}: {} for training, {} for validation, {}", printable(facts.data, 200),
                  pluralize(facts.train_images, "image"), facts.val_images,
                  pluralize(facts.spec.classes, "class", "classes")),
      "network  " + network_text(facts.spec) + ", " + work_text(facts.spec),
      fmt::format(
          "run      {} of {}, {} each{}", pluralize(facts.epochs, "epoch"),
          pluralize(facts.steps_per_epoch, "step"), pluralize(facts.batch, "image"),
          facts.processes > 1 ? fmt::format(" in each of {} processes", facts.processes) : ""),
      "machine  " + machine_text(facts),
      start_text(facts),
  };
}

}  // namespace sact::train
