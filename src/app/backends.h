// The back ends of the program, and models opened on the one that was asked for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "detect/detector.h"

namespace sact::app {

/// The project's own engines, and LibTorch, which is opened when it is chosen.
const BackendRegistry& backends();

/// What a network shall run on.
struct Compute {
  std::string backend = {};  // empty: the first that does the rest
  std::string device = "cpu";
  Precision precision = Precision::kFloat32;
  bool own_precision = false;   // that of each model instead: see precision_for()
  int threads = 0;              // 0: all that this process may use
  RequestTerms terms = {};      // for messages about the first three
  HaltingControl halting = {};  // of what the sessions run
  bool exact = false;           // see LoadOptions

  BackendRequest request() const {
    return {.name = backend, .device = device, .precision = precision, .terms = terms};
  }
};

/// The type of operands that a model is run in: what was asked for; or, where that is left to the
/// model, int8 if it was calibrated for it and can be run in it, else fp32.
Precision precision_for(const ModelFile& model, const Compute& compute);
/// The same request with that type.
Compute compute_for(const ModelFile& model, const Compute& compute);

/// Whether the environment (WORLD_SIZE) names other processes that work on the same job.
bool among_several_processes();

/// How many images to run at the same time on `threads` threads. One thread each gives the most
/// images in a second; where there are fewer images than threads, or memory for fewer of them at
/// `bytes` each, several work on each.
int images_at_a_time(size_t images, int threads, int64_t bytes);

/// A network, or a whole detector, with its weights loaded; what the request leaves to the model is
/// decided (compute_for). sact::Error for what no back end does.
std::shared_ptr<const LoadedNetwork> load_network(const NetworkSource& source,
                                                  const Compute& compute);
std::shared_ptr<const LoadedDetector> load_detector(const ModelFile& model, const Compute& compute);

/// One session that has all threads, with the weights of what runs on images loaded: a detector's
/// extractor, or the whole network. sact::Error for what no back end does.
std::unique_ptr<NetworkSession> open_session(const ModelFile& model, const Compute& compute);

/// A session for each of the threads that run images at the same time, as many as pay and as have
/// memory for images of about `size`. They share the weights, and all threads out among them.
std::vector<std::unique_ptr<NetworkSession>> open_sessions(const ModelFile& model,
                                                           const Compute& compute, size_t images,
                                                           Size size);

/// The same for a detector.
std::vector<std::unique_ptr<detect::ObjectDetector>> open_detectors(const ModelFile& model,
                                                                    const Compute& compute,
                                                                    size_t images);

}  // namespace sact::app
