#include "api/c_handles.h"

using namespace sact::api;

namespace {

sact::DetectOptions wanted_of(const sact_detect_options* options) {
  sact::DetectOptions all;
  if (!options) return all;
  if (options->score != 0) all.score = std::max(options->score, 0.0);
  if (options->most != 0) all.most = options->most;
  all.boxes = options->boxes;
  all.all_boxes = options->all_boxes != 0;
  return all;
}

}  // namespace

sact_detector* sact_detector_new(const sact_model* model, const sact_session_options* options,
                                 sact_error* error) {
  return handle_of(error, [&] {
    return new sact_detector{sact::Detector(given(model, "model").model, options_of(options))};
  });
}

void sact_detector_free(sact_detector* detector) {
  delete detector;
}

sact_status sact_detector_warm_up(sact_detector* detector, int height, int width,
                                  sact_error* error) {
  return guarded(error, [&] { given(detector, "detector").detector.warm_up(height, width); });
}

sact_status sact_detector_detect(sact_detector* detector, const sact_image_view* images, int count,
                                 const sact_detect_options* wanted, const sact_run_options* options,
                                 sact_detections** detections, sact_error* error) {
  return guarded(error, [&] {
    const auto views = views_of(images, count);
    if (count > 0) given(detections, "detections");
    const auto found =
        given(detector, "detector").detector.detect(views, wanted_of(wanted), options_of(options));
    store_handles(found, detections,
                  [](const sact::Detections& one) { return new sact_detections{one}; });
  });
}

sact_map* sact_detector_saliency_map(sact_detector* detector, const sact_image_view* image,
                                     const sact_saliency_options* saliency,
                                     const sact_run_options* options, sact_error* error) {
  return handle_of(error, [&] {
    const auto views = views_of(image, 1);
    return new sact_map{
        given(detector, "detector")
            .detector.saliency_map(views.front(), options_of(saliency), options_of(options))};
  });
}

void sact_detections_free(sact_detections* detections) {
  delete detections;
}

int sact_detections_count(const sact_detections* detections) {
  return detections ? int(detections->detections.objects().size()) : 0;
}

sact_object sact_detections_object(const sact_detections* detections, int index) {
  if (!detections || index < 0 || index >= sact_detections_count(detections)) return {};
  const sact::DetectedObject& object = detections->detections.objects()[size_t(index)];
  const sact::Box& box = object.box;
  return {box.x0, box.y0, box.x1, box.y1, object.index, object.label.c_str(), object.score};
}

int64_t sact_detections_flops(const sact_detections* detections) {
  return detections ? detections->detections.flops() : 0;
}

int64_t sact_detections_dense_flops(const sact_detections* detections) {
  return detections ? detections->detections.dense_flops() : 0;
}

int64_t sact_detections_box_flops(const sact_detections* detections) {
  return detections ? detections->detections.box_flops() : 0;
}

int64_t sact_detections_dense_box_flops(const sact_detections* detections) {
  return detections ? detections->detections.dense_box_flops() : 0;
}

int sact_detections_proposals(const sact_detections* detections) {
  return detections ? detections->detections.proposals() : 0;
}

double sact_detections_ponder_cost(const sact_detections* detections) {
  return detections ? detections->detections.ponder_cost() : 0;
}

sact_map* sact_detections_ponder_cost_map(const sact_detections* detections) {
  return handle_of(nullptr, [&] {
    return new sact_map{given(detections, "detections").detections.ponder_cost_map()};
  });
}

const float* sact_detections_block_ponder_cost(const sact_detections* detections, int block,
                                               int* height, int* width) {
  return detections ? ponder_cost_of(block_of(detections->detections, block), height, width)
                    : nullptr;
}

const int32_t* sact_detections_block_units(const sact_detections* detections, int block) {
  return detections ? units_of(block_of(detections->detections, block)) : nullptr;
}

int sact_detections_scaled_height(const sact_detections* detections) {
  return detections ? detections->detections.scaled_height() : 0;
}

int sact_detections_scaled_width(const sact_detections* detections) {
  return detections ? detections->detections.scaled_width() : 0;
}

sact_detector_times sact_detections_ms(const sact_detections* detections) {
  if (!detections) return {};
  const sact::DetectorTimes& ms = detections->detections.ms();
  return {ms.scale, ms.extractor, ms.proposals, ms.crops, ms.boxes, ms.rest};
}
