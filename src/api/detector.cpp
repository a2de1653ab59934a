#include <cmath>
#include <utility>

#include "api/state.h"
#include "saliency/postprocess.h"

namespace sact {
namespace api {
namespace {

const LoadedDetector& detector_of(const ModelState& model) {
  if (!model.detector) {
    fail(
        "{}: classifies images and does not find objects in them: make a session of it, "
        "not a detector",
        printable(model.name));
  }
  return *model.detector;
}

void check_wanted(const DetectOptions& wanted) {
  if (!(wanted.score >= 0 && wanted.score <= 1)) {
    fail("score is {}: a number from 0 to 1 is needed", wanted.score);
  }
  if (wanted.most < 0) fail("most is {}: 0 or more is needed", wanted.most);
  if (wanted.boxes < 0 || wanted.boxes > detect::kMostBoxes) {
    fail("boxes is {}: 1 to {} are possible, and 0 for the model's own number", wanted.boxes,
         detect::kMostBoxes);
  }
}

}  // namespace

DetectorState::DetectorState(std::shared_ptr<const ModelState> model, const SessionOptions& options)
    : model_(std::move(model)),
      halting_(checked_halting(options.work, *model_)),
      detector_(detector_of(*model_), checked_threads(options.threads), halting_) {}

Detections DetectorState::detect_one(const io::PixelView& image, const DetectOptions& wanted) {
  auto state = std::make_shared<DetectionsState>();
  state->image = detector_.detect(image, wanted);
  for (const detect::Detection& found : state->image.detections) {
    state->objects.push_back(
        {found.box, found.label, model_->spec->label(found.label), double(found.score)});
  }
  return Detections(std::move(state));
}

std::vector<Detections> DetectorState::detect(const std::vector<ImageView>& images,
                                              const DetectOptions& wanted,
                                              const RunOptions& options) {
  check_wanted(wanted);
  return cancellable([&] {
    const Steering steering(detector_.session(), options, *model_, halting_);
    std::vector<Detections> found;
    for (const ImageView& image : images) {
      found.push_back(detect_one(checked(image), wanted));
      if (options.progress) options.progress(int(found.size()), int(images.size()));
    }
    return found;
  });
}

Map DetectorState::saliency_map(const ImageView& image, const SaliencyOptions& saliency,
                                const RunOptions& options) {
  check_saliency(saliency, *model_);
  const int side = saliency.size != 0 ? saliency.size : saliency::usual_size(*model_->spec).height;
  return cancellable([&] {
    const Steering steering(detector_.session(), options, *model_, halting_);
    return saliency_of(ponder_cost_map(detector_.extract(checked(image), side).result), saliency);
  });
}

void DetectorState::warm_up(int height, int width) {
  const int side = model_->spec->detection->shorter_side;
  const Size size{height > 0 ? height : side, width > 0 ? width : side};
  const Image grey = Image::from_pixels(size.width, size.height,
                                        std::vector<uint8_t>(3 * size_t(size.positions()), 128));
  detect({grey.view()}, {}, {});
}

}  // namespace api

namespace {

api::DetectorState& state_of(const std::unique_ptr<api::DetectorState>& state) {
  return api::present(state, "detector");
}

}  // namespace

Detections::Detections(std::shared_ptr<const api::DetectionsState> state)
    : state_(std::move(state)) {}

const std::vector<DetectedObject>& Detections::objects() const {
  return state_->objects;
}

const std::vector<BlockResult>& Detections::blocks() const {
  return state_->image.extractor.blocks;
}

Map Detections::ponder_cost_map() const {
  return sact::ponder_cost_map(state_->image.extractor);
}

double Detections::ponder_cost() const {
  return sact::ponder_cost(state_->image.extractor);
}

int64_t Detections::flops() const {
  return state_->image.extractor.flops;
}

int64_t Detections::dense_flops() const {
  return state_->image.dense_flops;
}

int64_t Detections::box_flops() const {
  return state_->image.box_flops;
}

int64_t Detections::dense_box_flops() const {
  return state_->image.dense_box_flops;
}

int Detections::proposals() const {
  return state_->image.proposals();
}

int Detections::scaled_height() const {
  return state_->image.scaled.height;
}

int Detections::scaled_width() const {
  return state_->image.scaled.width;
}

const DetectorTimes& Detections::ms() const {
  return state_->image.ms;
}

Detector::Detector(const Model& model, const SessionOptions& options)
    : model_(model), state_(std::make_unique<api::DetectorState>(model.state_, options)) {}

Detector::~Detector() = default;
Detector::Detector(Detector&&) noexcept = default;
Detector& Detector::operator=(Detector&&) noexcept = default;

Detections Detector::detect(const Image& image, const DetectOptions& wanted,
                            const RunOptions& options) {
  return detect(image.view(), wanted, options);
}

Detections Detector::detect(const ImageView& image, const DetectOptions& wanted,
                            const RunOptions& options) {
  return detect(std::vector<ImageView>{image}, wanted, options).front();
}

std::vector<Detections> Detector::detect(const std::vector<Image>& images,
                                         const DetectOptions& wanted, const RunOptions& options) {
  return detect(api::views_of(images), wanted, options);
}

std::vector<Detections> Detector::detect(const std::vector<ImageView>& images,
                                         const DetectOptions& wanted, const RunOptions& options) {
  return state_of(state_).detect(images, wanted, options);
}

Map Detector::saliency_map(const Image& image, const SaliencyOptions& saliency,
                           const RunOptions& options) {
  return saliency_map(image.view(), saliency, options);
}

Map Detector::saliency_map(const ImageView& image, const SaliencyOptions& saliency,
                           const RunOptions& options) {
  return state_of(state_).saliency_map(image, saliency, options);
}

void Detector::warm_up(int height, int width) {
  state_of(state_).warm_up(height, width);
}

}  // namespace sact
