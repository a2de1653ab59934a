// Accuracy, FLOPs and units of a network over a data set, at one size of images or several.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/session.h"
#include "data/dataset.h"
#include "model/eval_result.h"
#include "model/model_file.h"
#include "sact/types.h"

namespace sact::evaluation {

/// One image that was run.
struct EvaluatedImage {
  std::string name;
  Size size;  // of the network's input
  int label = 0;
  const ImageResult& result;
};
using OnImage = std::function<void(const EvaluatedImage&)>;

/// What every back end is asked to evaluate.
struct Request {
  std::string data, split = "val", class_names;
  std::vector<Size> sizes;
  std::string device = "cpu";
  int threads = 0, batch = 32, workers = 0;
  Precision precision = Precision::kFloat32;  // of a back end's own loop; sessions have theirs
  bool alone = false;                         // whatever processes the environment names
  /// Asked between batches; when it says true the work ends with sact::Interrupted.
  std::function<bool()> interrupted = {};
  OnImage on_image = {};  // called for every image in the order of the data set
};

/// The data set of a request, labelled by the network's classes, which are matched by name
/// (data/class_matching.h). Throws sact::Error when it has classes that the network has not.
std::unique_ptr<data::Dataset> open_data(const Request& request, const ModelSpec& spec);

/// Hands an image to the request's on_image. Throws sact::Error when the network's output for it is
/// not finite.
void report(const Request& request, const EvaluatedImage& image);

/// The side at which images are decoded for an evaluation at `size`. All back ends take the same,
/// so that their networks see the same pixels.
int storage_size(const data::Dataset& dataset, Size size, const ModelSpec& spec);

/// Runs the network over every readable image, at each size of the request. Images are decoded by
/// threads of their own while the network runs. Throws sact::Error when too many are unreadable.
std::vector<EvalOutcome> evaluate(NetworkSession& session, const ModelSpec& spec,
                                  const Request& request);

/// The loop over a data set that a back end has of its own.
class DatasetEvaluator {
 public:
  virtual ~DatasetEvaluator() = default;
  /// As evaluate(); empty in all but the first of several processes.
  virtual std::vector<EvalOutcome> evaluate(const ModelFile& file,
                                            const Request& request) const = 0;
};

}  // namespace sact::evaluation
