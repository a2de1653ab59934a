#include "app/detection_job.h"

#include <unordered_map>

#include "base/error.h"
#include "base/file_names.h"
#include "base/stopwatch.h"
#include "detect/detection_set.h"

namespace sact::app {
namespace {

void check_size(const detect::CocoImage& annotated, const std::string& path, Size found) {
  if (annotated.size.positions() == 0 || annotated.size == found) return;
  detect::fail_of_size(path, found, annotated.size);
}

}  // namespace

DetectedFile DetectionJob::run(detect::ObjectDetector& detector, const Input& input,
                               size_t index) const {
  const std::string path = input.path.string();
  const int64_t image_id = ids.image(input.path, input.number);
  Stopwatch watch;
  const io::RgbImage photo = read_input(input, reading);
  const double load_ms = watch.lap();
  if (annotated) check_size(annotated->images[index], path, {photo.height, photo.width});
  DetectedFile file = detect_objects(detector, photo, path, options);
  if (true_boxes) {
    file.ponder = ponder_by_boxes(ponder_cost_map(file.result.extractor), (*true_boxes)[index],
                                  {photo.height, photo.width});
  }
  file.image_id = image_id;
  file.load_ms = load_ms;
  watch.lap();
  if (pictures) {
    file.picture = pictures->write(index, detection_picture(spec, file, photo, drawn_score));
    file.picture_ms = watch.lap();
  }
  return file;
}

void DetectionTotals::add(const detect::CocoIds& ids, const DetectedFile& file) {
  for (const detect::Detection& detection : file.result.detections) {
    const std::optional<int64_t> category = ids.category(detection.label);
    if (!category) continue;
    results.entries.push_back(
        {file.image_id, *category, detect::coco_box(detection.box), detection.score});
  }
  ++images;
  objects += int64_t(file.result.detections.size());
  flops += double(file.result.extractor.flops);
  dense_flops += double(file.result.dense_flops);
  boxes += file.result.proposals();
  box_flops += double(file.result.box_flops);
  dense_box_flops += double(file.result.dense_box_flops);
  if (file.ponder) {
    ponder.inside += file.ponder->inside;
    ponder.outside += file.ponder->outside;
    ++ponder_images;
  }
  const auto times = stage_times(file);
  ms.resize(times.size());
  for (size_t i = 0; i < times.size(); ++i) {
    ms[i] = {times[i].first, ms[i].second + times[i].second};
  }
}

io::Json DetectionTotals::json() const {
  io::Json json = {{"detections", objects}};
  if (images == 0) return json;
  const double count = double(images);
  json["flops"] = flops / count;
  json["dense_flops"] = dense_flops / count;
  json["proposals"] = boxes / count;
  json["box_flops"] = box_flops / count;
  json["dense_box_flops"] = dense_box_flops / count;
  if (ponder_images > 0) {
    json["ponder_cost"] = {{"inside_boxes", ponder.inside / double(ponder_images)},
                           {"outside", ponder.outside / double(ponder_images)},
                           {"images", ponder_images}};
  }
  for (const auto& [stage, time] : ms) json["ms"][stage] = time / count;
  return json;
}

std::vector<std::vector<Box>> boxes_by_image(const detect::CocoInstances& annotations) {
  std::unordered_map<int64_t, size_t> numbers;
  for (size_t i = 0; i < annotations.images.size(); ++i) numbers[annotations.images[i].id] = i;
  std::vector<std::vector<Box>> boxes(annotations.images.size());
  for (const detect::CocoObject& object : annotations.objects) {
    const detect::CocoBox& box = object.box;
    boxes[numbers.at(object.image_id)].push_back(
        {float(box.x), float(box.y), float(box.x + box.width), float(box.y + box.height)});
  }
  return boxes;
}

std::vector<Input> annotated_inputs(const detect::CocoInstances& annotations,
                                    const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    fail("{}: there is no such folder", printable(folder.string()));
  }
  std::vector<Input> inputs;
  for (const detect::CocoImage& image : annotations.images) {
    if (image.file_name.empty()) fail("{}: image {} has no file_name", annotations.name, image.id);
    const std::string where = fmt::format("{}: image {}", annotations.name, image.id);
    inputs.push_back({file_below(folder, image.file_name, where), {}, image.file_name, folder});
  }
  number_inputs(inputs);
  return inputs;
}

}  // namespace sact::app
