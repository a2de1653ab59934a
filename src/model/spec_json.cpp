// The spec as JSON, as it is stored in model files.
#include <algorithm>

#include "base/error.h"
#include "io/json_numbers.h"
#include "model/spec.h"

namespace sact {
namespace {

using io::Json;

/// Reads keys out of a JSON object, with errors that name the key.
class KeyReader {
 public:
  KeyReader(const Json& object, std::string name) : object_(object), name_(std::move(name)) {
    if (!object.is_object()) fail("{}: must be a JSON object", name_);
  }

  template <typename T>
  void read(const char* key, T& value) {
    known_.push_back(key);
    const auto found = object_.find(key);
    if (found != object_.end()) convert(*found, fmt::format("{}: '{}'", name_, key), value);
  }

  const Json* child(const char* key) {
    known_.push_back(key);
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }

  std::map<std::string, std::string> unknown() const {
    std::map<std::string, std::string> rest;
    for (const auto& [key, value] : object_.items()) {
      if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
        rest[key] = io::dump_json(value);
      }
    }
    return rest;
  }

 private:
  static void convert(const Json& json, const std::string& what, int& value) {
    const auto number = io::int_of(json);
    if (!number) fail("{} must be a whole number, found {}", what, shown(json));
    value = *number;
  }
  static void convert(const Json& json, const std::string& what, double& value) {
    if (!json.is_number()) fail("{} must be a number, found {}", what, shown(json));
    value = json.get<double>();
  }
  static void convert(const Json& json, const std::string& what, bool& value) {
    if (!json.is_boolean()) fail("{} must be true or false, found {}", what, shown(json));
    value = json.get<bool>();
  }
  static void convert(const Json& json, const std::string& what, std::string& value) {
    if (!json.is_string()) fail("{} must be a string, found {}", what, shown(json));
    value = json.get<std::string>();
  }
  template <typename T>
  static void convert(const Json& json, const std::string& what, std::vector<T>& value) {
    if (!json.is_array()) fail("{} must be an array, found {}", what, shown(json));
    value.assign(json.size(), T{});
    for (size_t i = 0; i < json.size(); ++i) {
      convert(json[i], fmt::format("{}[{}]", what, i), value[i]);
    }
  }
  static void convert(const Json& json, const std::string& what, std::array<double, 3>& value) {
    std::vector<double> values;
    convert(json, what, values);
    if (values.size() != 3) fail("{} must have 3 numbers, found {}", what, values.size());
    std::copy(values.begin(), values.end(), value.begin());
  }
  static std::string shown(const Json& json) { return printable(io::dump_json(json), 40); }

  const Json& object_;
  std::string name_;
  std::vector<std::string> known_;
};

}  // namespace

std::string to_json(const ModelSpec& spec, int indent) {
  Json json = {{"stem", name_of(spec.stem)},
               {"unit", name_of(spec.unit)},
               {"units", spec.units},
               {"width", spec.width},
               {"classes", spec.classes},
               {"halting", name_of(spec.halting)},
               {"epsilon", spec.epsilon},
               {"tile", spec.tile},
               {"halting_norm", spec.halting_norm},
               {"norm_epsilon", spec.norm_epsilon},
               {"input",
                {{"size", spec.input.size},
                 {"crop", spec.input.crop},
                 {"mean", spec.input.mean},
                 {"std", spec.input.std}}}};
  // Only where they differ from what a file without them means.
  if (spec.stride_on != ModelSpec().stride_on) json["stride_on"] = name_of(spec.stride_on);
  if (spec.stem_pool != ModelSpec().stem_pool) json["stem_pool"] = name_of(spec.stem_pool);
  if (spec.score_floor != ModelSpec().score_floor) json["score_floor"] = spec.score_floor;
  if (spec.detection) {
    const DetectionSpec& detection = *spec.detection;
    json["detection"] = {{"shorter_side", detection.shorter_side},
                         {"anchor_sizes", detection.anchor_sizes},
                         {"anchor_ratios", detection.anchor_ratios},
                         {"proposal_channels", detection.proposal_channels},
                         {"proposals", detection.proposals},
                         {"nms_iou", detection.nms_iou},
                         {"crop", detection.crop},
                         {"pool", detection.pool}};
    for (const BoxCut& cut : detection.box_cuts) {
      json["detection"]["box_cuts"].push_back({cut.score, cut.objectness});
    }
    for (const auto& [key, value] : detection.unknown) json["detection"][key] = Json::parse(value);
  }
  if (!spec.labels.empty()) json["labels"] = spec.labels;
  for (const auto& [key, value] : spec.input.unknown) json["input"][key] = Json::parse(value);
  for (const auto& [key, value] : spec.unknown) json[key] = Json::parse(value);
  return io::dump_json(json, indent);
}

ModelSpec spec_from_json(std::string_view text, const std::string& name) {
  const Json json = io::parse_json(text, name);
  ModelSpec spec;
  KeyReader reader(json, name);
  const auto read_name = [&](const char* key, auto& value, auto from_name) {
    std::string text(name_of(value));
    reader.read(key, text);
    value = from_name(text, fmt::format("{}: '{}'", name, key));
  };
  read_name("stem", spec.stem, stem_from_name);
  read_name("stem_pool", spec.stem_pool, stem_pool_from_name);
  read_name("unit", spec.unit, unit_from_name);
  read_name("stride_on", spec.stride_on, stride_on_from_name);
  read_name("halting", spec.halting, halting_from_name);
  reader.read("units", spec.units);
  reader.read("width", spec.width);
  reader.read("classes", spec.classes);
  reader.read("epsilon", spec.epsilon);
  reader.read("score_floor", spec.score_floor);
  reader.read("tile", spec.tile);
  reader.read("halting_norm", spec.halting_norm);
  reader.read("norm_epsilon", spec.norm_epsilon);
  reader.read("labels", spec.labels);
  if (const Json* input = reader.child("input")) {
    KeyReader inner(*input, name + ": 'input'");
    inner.read("size", spec.input.size);
    inner.read("crop", spec.input.crop);
    inner.read("mean", spec.input.mean);
    inner.read("std", spec.input.std);
    spec.input.unknown = inner.unknown();
  }
  if (const Json* detection = reader.child("detection")) {
    KeyReader inner(*detection, name + ": 'detection'");
    spec.detection.emplace();
    inner.read("shorter_side", spec.detection->shorter_side);
    inner.read("anchor_sizes", spec.detection->anchor_sizes);
    inner.read("anchor_ratios", spec.detection->anchor_ratios);
    inner.read("proposal_channels", spec.detection->proposal_channels);
    inner.read("proposals", spec.detection->proposals);
    inner.read("nms_iou", spec.detection->nms_iou);
    inner.read("crop", spec.detection->crop);
    inner.read("pool", spec.detection->pool);
    std::vector<std::vector<double>> cuts;
    inner.read("box_cuts", cuts);
    for (const std::vector<double>& cut : cuts) {
      if (cut.size() != 2) {
        fail("{}: 'detection': 'box_cuts' must have pairs of score and objectness", name);
      }
      spec.detection->box_cuts.push_back({cut[0], cut[1]});
    }
    spec.detection->unknown = inner.unknown();
  }
  spec.unknown = reader.unknown();
  validate(spec, name);
  return spec;
}

}  // namespace sact
