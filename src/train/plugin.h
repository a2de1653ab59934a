// What the program `sact` calls in the library libsact_torch.so.
//
// LibTorch with all it drags in takes half a second to load, and most commands do not need it. So
// everything that does lives in a library of its own, which is opened when it is wanted. This
// header does not include LibTorch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "evaluation/evaluate.h"
#include "model/eval_result.h"
#include "model/model_file.h"
#include "train/loop/request.h"

namespace sact::train {

/// What LibTorch this is and what it can use, for `sact doctor`.
struct TorchFacts {
  std::string version;
  int threads = 0;
  int cuda_devices = 0;
  double matmul_gflops = 0;  // of a 1024 x 1024 product: tells a real BLAS from the reference one
};

struct TorchPlugin {
  std::shared_ptr<const LoadedNetwork> (*load)(const NetworkSource& source,
                                               const LoadOptions& options);
  TorchFacts (*facts)(int threads);
  TrainOutcome (*train)(const TrainRequest& request);
  TrainOutcome (*train_detector)(const TrainRequest& request);
  TrainOutcome (*adapt)(const TrainRequest& request);
  /// Empty in all but the first of several processes.
  std::vector<EvalOutcome> (*evaluate)(const ModelFile& file, const EvaluationRequest& request);
};

/// The one symbol that the library exports for the program.
extern "C" const TorchPlugin* sact_torch_plugin();

}  // namespace sact::train
