// Evaluating a network over a data set, as a back end may do it in a loop of its own: what is asked
// for, and the interface.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "halting/control.h"
#include "model/eval_result.h"
#include "model/model_file.h"
#include "model/result.h"
#include "sact/types.h"

namespace sact {

/// One image that was run.
struct EvaluatedImage {
  std::string name;
  Size size;  // of the network's input
  int label = 0;
  const ImageResult& result;
};
using OnImage = std::function<void(const EvaluatedImage&)>;

/// What every back end is asked to evaluate.
struct EvaluationRequest {
  std::string data, split = "val", class_names;
  std::vector<Size> sizes;
  std::string device = "cpu";
  int threads = 0, batch = 32, workers = 0;
  Precision precision = Precision::kFloat32;  // of a back end's own loop; sessions have theirs
  HaltingControl halting = {};                // likewise
  bool alone = false;                         // whatever processes the environment names
  /// Asked between batches; when it says true the work ends with sact::Interrupted.
  std::function<bool()> interrupted = {};
  OnImage on_image = {};  // called for every image in the order of the data set
};

/// The loop over a data set that a back end has of its own.
class DatasetEvaluator {
 public:
  virtual ~DatasetEvaluator() = default;
  /// As evaluation::evaluate(); empty in all but the first of several processes.
  virtual std::vector<EvalOutcome> evaluate(const ModelFile& file,
                                            const EvaluationRequest& request) const = 0;
};

}  // namespace sact
