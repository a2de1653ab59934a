// What stands behind the handles of the public headers.
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/registry.h"
#include "base/error.h"
#include "detect/detector.h"
#include "model/dial.h"
#include "model/preprocess.h"
#include "model/result.h"
#include "model/spec.h"
#include "sact/sact.h"

namespace sact::api {

/// The back ends of the library.
const BackendRegistry& backends();

struct ModelState {
  std::shared_ptr<const ModelSpec> spec;  // shared with results, which do not keep the weights
  std::shared_ptr<const LoadedNetwork> network;    // of a classifier
  std::shared_ptr<const LoadedDetector> detector;  // of a detector
  std::string name;                                // of the file
  std::optional<Dial> dial;
  std::vector<std::string> remarks;
};

/// What a network sees of a picture.
View view_of(const ModelSpec& spec, const io::PixelView& image, const InputOptions& options);

/// The views of pictures; sact::Error where one is none.
io::PixelView checked(const ImageView& view);
std::vector<ImageView> views_of(const std::vector<Image>& images);

// What was asked for; sact::Error names the option that is wrong.
int checked_threads(int threads);
HaltingControl checked_halting(const Work& work, const ModelState& model);
void check_saliency(const SaliencyOptions& options, const ModelState& model);

/// The saliency map of a ponder cost map.
Map saliency_of(const Map& ponder_cost, const SaliencyOptions& options);

/// Steers a session of a back end as one call asks, and lets it go back when the call ends.
template <typename Steered>
class Steering {
 public:
  Steering(Steered& session, const RunOptions& options, const ModelState& model,
           const HaltingControl& usual)
      : session_(session), usual_(usual), other_work_(options.work.has_value()) {
    if (other_work_) session_.set_halting(checked_halting(*options.work, model));
    session_.set_interruption(options.cancelled);
  }
  ~Steering() {
    if (other_work_) session_.set_halting(usual_);
    session_.set_interruption({});
  }
  Steering(const Steering&) = delete;
  Steering& operator=(const Steering&) = delete;

 private:
  Steered& session_;
  const HaltingControl& usual_;
  bool other_work_;
};

/// Calls `run`; what interrupts it is what the public headers call Cancelled, and memory that is
/// not there is an error as any other.
template <typename Run>
auto cancellable(const Run& run) {
  try {
    return run();
  } catch (const Interrupted&) {
    throw Cancelled("the run was cancelled");
  } catch (const std::bad_alloc&) {
    fail("there is not enough memory for this; use smaller images or fewer at a time");
  }
}

/// What `state` points to, unless its owner was moved from.
template <typename State>
State& present(const std::unique_ptr<State>& state, const char* what) {
  if (!state) fail("this {} was moved to another variable; use that one", what);
  return *state;
}

struct ResultState {
  std::shared_ptr<const ModelSpec> spec;
  Size size;  // of the network's input
  ImageResult image;
  RunTimes ms;
};

class SessionState {
 public:
  SessionState(std::shared_ptr<const ModelState> model, const SessionOptions& options);

  /// Runs all pictures, of which those with inputs of one size run together.
  std::vector<Result> run(const std::vector<ImageView>& images, const RunOptions& options);
  /// Runs inputs of one size.
  std::vector<Result> run(const InputView& images, const RunOptions& options);
  void warm_up(int images, const InputOptions& input);

  const ModelState& model() const { return *model_; }

 private:
  /// At most `batch_` images; those before them count in messages.
  std::vector<Result> run_together(const InputView& images, double prepare_ms, int before);

  std::shared_ptr<const ModelState> model_;
  int batch_;
  HaltingControl halting_;
  std::unique_ptr<NetworkSession> session_;
};

struct DetectionsState {
  detect::DetectedImage image;
  std::vector<DetectedObject> objects;
};

class DetectorState {
 public:
  DetectorState(std::shared_ptr<const ModelState> model, const SessionOptions& options);

  std::vector<Detections> detect(const std::vector<ImageView>& images, const DetectOptions& wanted,
                                 const RunOptions& options);
  Map saliency_map(const ImageView& image, const SaliencyOptions& saliency,
                   const RunOptions& options);
  void warm_up(int height, int width);

 private:
  Detections detect_one(const io::PixelView& image, const DetectOptions& wanted);

  std::shared_ptr<const ModelState> model_;
  HaltingControl halting_;
  detect::ObjectDetector detector_;
};

}  // namespace sact::api
