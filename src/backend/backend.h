// What can run networks: the interface of every back end. A back end says what it supports, loads
// weights, and makes sessions that share them. CONTRIBUTING.md says how to add one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/dataset_evaluator.h"
#include "backend/session.h"
#include "halting/control.h"
#include "model/model_file.h"
#include "sact/types.h"

namespace sact {

/// The spec of a network and where its weights come from, which must outlive the loading.
struct NetworkSource {
  ModelSpec spec;
  std::function<std::vector<float>(const WeightInfo&)> weights;
  InputScales input_scales = {};  // where it was calibrated for whole numbers
  std::string name = {};          // for messages
};

/// What runs on images of a model: of a detector its extractor, another network as it is.
NetworkSource image_network_of(const ModelFile& file);
/// A whole detector. sact::Error when the model is none.
NetworkSource detector_of(const ModelFile& file);

struct LoadOptions {
  std::string device = "cpu";
  Precision precision = Precision::kFloat32;
  int threads = 1;  // that all sessions together have
  /// Instruction set of CPU kernels. Empty: what SACT_ISA names, or the fastest.
  std::string isa = {};
  /// Sums of products in their plain order, where a back end has a faster form that rounds in other
  /// places.
  bool exact = false;
};

/// Which kernels run a network.
struct KernelFacts {
  std::string isa;    // such as "AVX512"
  std::string dtype;  // of operands, such as "bf16"; may be another than was asked for
  std::string why;    // they were chosen
};

/// A network whose weights are loaded; any number of sessions share them, each on a thread of its
/// own. Where a back end can run but one at a time, its sessions wait for each other.
class LoadedNetwork {
 public:
  virtual ~LoadedNetwork() = default;
  virtual std::unique_ptr<NetworkSession> session(int threads,
                                                  const HaltingControl& halting = {}) const = 0;
  /// What one session takes for a run, with its input; 0: not known, or not here.
  virtual int64_t bytes_needed(int /*count*/, Size /*size*/) const { return 0; }
  /// Sessions that keep the device busy where batches come one after another: on a device of its
  /// own one brings its images there while another runs.
  virtual int sessions_in_turns() const { return 1; }
  /// The kernels that run it; empty: there is nothing to tell.
  virtual KernelFacts kernels() const { return {}; }
};

/// The same for a detector.
class LoadedDetector {
 public:
  virtual ~LoadedDetector() = default;
  virtual const ModelSpec& spec() const = 0;
  /// A hard budget limits the extractor, and the last block on each box.
  virtual std::unique_ptr<DetectorSession> session(int threads,
                                                   const HaltingControl& halting = {}) const = 0;
  /// For an image that is scaled to this size.
  virtual int64_t bytes_needed(Size /*scaled*/) const { return 0; }
};

/// A type of operands on a device.
struct SupportedType {
  std::string device;
  Precision precision = Precision::kFloat32;
  bool evaluation_only = false;  // over data sets alone
};

struct Capabilities {
  std::vector<SupportedType> types;
  bool shares_processes = false;  // several processes can share an evaluation
  bool detectors = false;
  bool prescribes_units = false;  // and times layers
  bool steers = false;            // sessions take another halting control, and can be interrupted
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;
  virtual const Capabilities& capabilities() const = 0;

  virtual std::shared_ptr<const LoadedNetwork> load(const NetworkSource& source,
                                                    const LoadOptions& options) const = 0;
  /// Only where it has detectors.
  virtual std::shared_ptr<const LoadedDetector> load_detector(const NetworkSource& source,
                                                              const LoadOptions& options) const;

  /// Measures how many operations a second the device reaches at best; empty: not known.
  virtual std::function<double()> peak(const LoadOptions&) const { return {}; }

  /// A loop over data sets of its own, where it has one: images that are prepared on its device,
  /// several processes. Null: evaluation::evaluate() runs its sessions.
  virtual const DatasetEvaluator* evaluator() const { return nullptr; }
};

}  // namespace sact
