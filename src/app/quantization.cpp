#include "app/quantization.h"

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

}  // namespace

Quantization choose_scales(const ModelFile& model, const ModelSpec& spec,
                           const QuantizationOptions& options) {
  expect_classifier(model);
  if (options.photographs.empty()) fail("there are no photographs to calibrate with");
  const evaluation::PreparedImages images = prepared(spec, options);
  NetworkSource source = image_network_of(model);
  source.spec.input = spec.input;
  const int threads = thread_count(options.threads);
  const auto network = backends().choose({.name = "engine"}).load(source, {.threads = threads});
  Ranges ranges(source.spec);
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
  Quantization result{{}, images.count()};
  for (const QuantizedLayer& layer : quantized_layers(source.spec)) {
    const ActivationRange& range = ranges.of(layer.reads_like);
    if (range.count() == 0) {
      fail("{}: no photograph came to the layer {}: calibrate with more, or others", model.name(),
           layer.reads_like);
    }
    result.scales[layer.name] = range.scale(options.method);
  }
  return result;
}

}  // namespace sact::app
