#include "app/quantization.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "app/backends.h"
#include "app/photographs.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/threads.h"
#include "evaluation/evaluate.h"

namespace sact::app {
namespace {

/// What each layer read.
class Ranges : public OperandObserver {
 public:
  explicit Ranges(const ModelSpec& spec) {
    for (const QuantizedLayer& layer : quantized_layers(spec)) layers_[layer.name];
  }

  void see(const std::string& layer, std::span<const float* const> rows, int depth) override {
    const auto found = layers_.find(layer);
    if (found == layers_.end()) return;  // stays in floats
    const std::lock_guard lock(found->second.mutex);
    for (const float* row : rows) found->second.range.add({row, size_t(depth)});
  }

  const ActivationRange& of(const std::string& layer) const { return layers_.at(layer).range; }

 private:
  struct Layer {
    std::mutex mutex;
    ActivationRange range;
  };
  std::map<std::string, Layer> layers_;
};

evaluation::PreparedImages prepared(const ModelSpec& spec, const QuantizationOptions& options) {
  const Photographs photographs(options.photographs);
  EvaluationRequest request;
  request.threads = options.threads;
  request.interrupted = options.interrupted;
  return evaluation::prepare_images(photographs, evenly(photographs.size(), options.most),
                                    {spec.input.size, spec.input.size}, spec, request);
}

/// Shows what the layers of a network read on the images, in 32 bits.
void run_in_floats(const NetworkSource& source, const evaluation::PreparedImages& images,
                   const QuantizationOptions& options, Ranges& ranges) {
  const int threads = thread_count(options.threads);
  const auto network =
      backends().choose({.name = "engine"}).load(source, {.threads = threads, .exact = true});
  const auto session = network->session(threads);
  session->observe(&ranges);
  const InputView all = pixels_view(images.pixels, int(images.count()), images.size);
  Progress progress("calibrating", images.count(), "photographs");
  for (int i = 0; i < int(images.count()); ++i) {
    if (options.interrupted && options.interrupted()) {
      throw Interrupted("the calibration was interrupted, and nothing was written");
    }
    session->run(all.part(i, 1));
    progress.advance();
  }
  progress.finish();
}

}  // namespace

Quantization choose_scales(const ModelFile& model, const ModelSpec& spec,
                           const QuantizationOptions& options) {
  expect_classifier(model);
  if (options.photographs.empty()) fail("there are no photographs to calibrate with");
  for (const Input& input : options.photographs) {
    if (!input.error.empty()) fail("{}", input.error);
  }
  const evaluation::PreparedImages images = prepared(spec, options);
  if (images.count() == 0) fail("none of the photographs to calibrate with can be read");
  NetworkSource source = image_network_of(model);
  source.spec.input = spec.input;
  const std::vector<QuantizedLayer> layers = quantized_layers(source.spec);
  Ranges ranges(source.spec), dense_ranges(source.spec);
  run_in_floats(source, images, options, ranges);
  const auto unseen = [&](const QuantizedLayer& layer) {
    return ranges.of(layer.reads_like).count() == 0;
  };
  // Where all positions of all photographs had halted, the network without halting tells.
  if (std::any_of(layers.begin(), layers.end(), unseen)) {
    source.spec.halting = Halting::kNone;
    run_in_floats(source, images, options, dense_ranges);
  }
  Quantization result{{}, images.count()};
  for (const QuantizedLayer& layer : layers) {
    const Ranges& seen = unseen(layer) ? dense_ranges : ranges;
    result.scales[layer.name] = seen.of(layer.reads_like).scale(options.method);
  }
  return result;
}

}  // namespace sact::app
