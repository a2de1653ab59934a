// Accuracy, FLOPs and units of a network over a data set, at one size of images or several.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/dataset_evaluator.h"
#include "backend/session.h"
#include "data/dataset.h"
#include "model/eval_result.h"
#include "model/model_file.h"

namespace sact::evaluation {

/// The data set of a request, labelled by the network's classes, which are matched by name
/// (data/class_matching.h). Throws sact::Error when it has classes that the network has not.
std::unique_ptr<data::Dataset> open_data(const EvaluationRequest& request, const ModelSpec& spec);

/// Hands an image to the request's on_image. Throws sact::Error when the network's output for it is
/// not finite.
void report(const EvaluationRequest& request, const EvaluatedImage& image);

/// The side at which images are decoded for an evaluation at `size`. All back ends take the same,
/// so that their networks see the same pixels.
int storage_size(const data::Dataset& dataset, Size size, const ModelSpec& spec);

/// Images as a network sees them in an evaluation, [H, W, 3] one after another.
struct PreparedImages {
  Size size;
  std::vector<float> pixels;
  std::vector<int> labels;

  int64_t count() const { return int64_t(labels.size()); }
};

/// The readable ones of these samples. sact::Error when there is no memory for them, or when too
/// many are unreadable.
PreparedImages prepare_images(const data::Dataset& dataset, const std::vector<int64_t>& samples,
                              Size size, const ModelSpec& spec, const EvaluationRequest& request);

/// Sessions of one network, which take turns.
using Sessions = std::span<NetworkSession* const>;

/// Runs the network over every readable image, at each size of the request. Images are decoded by
/// threads of their own while the network runs; with several sessions batches are prepared and
/// brought to the device meanwhile, too. Throws sact::Error when too many are unreadable.
std::vector<EvalOutcome> evaluate(Sessions sessions, const ModelSpec& spec,
                                  const EvaluationRequest& request);

}  // namespace sact::evaluation
