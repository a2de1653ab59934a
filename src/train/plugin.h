// What the program `sact` calls in the library libsact_torch.so.
//
// LibTorch with all it drags in takes half a second to load, and most commands do not need it. So
// everything that does lives in a library of its own, which is opened when it is wanted. This
// header does not include LibTorch.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "evaluation/evaluate.h"
#include "model/eval_result.h"
#include "model/model_file.h"

namespace sact::train {

/// What LibTorch this is and what it can use, for `sact doctor`.
struct TorchFacts {
  std::string version;
  int threads = 0;
  int cuda_devices = 0;
  double matmul_gflops = 0;  // of a 1024 x 1024 product: tells a real BLAS from the reference one
};

struct TrainRequest {
  std::string config;                    // JSON file with settings, or empty
  std::vector<std::string> assignments;  // key=value
  std::string run;                       // run folder
  std::string device = "cpu";
  int threads = 0;
  /// Asked at every step; when it says true, training stops and keeps what it has.
  std::function<bool()> interrupted = {};
};

struct TrainOutcome {
  bool first = true;             // whether this process is the one that speaks for all
  bool finished = false;         // false: interrupted; the same call goes on
  bool finished_before = false;  // nothing was left to do
  int64_t epochs = 0, steps = 0;
  double seconds = 0;  // of this call
  /// Of the whole run; NaN before its first evaluation.
  double accuracy = 0, best_accuracy = 0, flops = 0;
  std::string data, split;  // what it was evaluated on
};

struct TrainDetectorOutcome {
  bool first = true;  // as TrainOutcome's
  bool finished = false, finished_before = false;
  int64_t epochs = 0, steps = 0;
  double seconds = 0, ap = 0, best_ap = 0, flops = 0;
};

struct TorchPlugin {
  std::shared_ptr<const LoadedNetwork> (*load)(const NetworkSource& source,
                                               const LoadOptions& options);
  TorchFacts (*facts)(int threads);
  TrainOutcome (*train)(const TrainRequest& request);
  TrainDetectorOutcome (*train_detector)(const TrainRequest& request);
  /// Empty in all but the first of several processes.
  std::vector<EvalOutcome> (*evaluate)(const ModelFile& file, const evaluation::Request& request);
};

/// The one symbol that the library exports for the program.
extern "C" const TorchPlugin* sact_torch_plugin();

}  // namespace sact::train
