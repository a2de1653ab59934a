#include "import/keras_layers.h"

#include "base/error.h"
#include "io/json_numbers.h"

namespace sact::importing {
namespace {

using io::Json;

/// Every [name, node, tensor, ...] below: Keras has changed more than once what stands around them.
void collect_inputs(const Json& json, std::vector<std::string>& names) {
  if (json.is_array() && json.size() >= 3 && json[0].is_string() && json[1].is_number_integer() &&
      json[2].is_number_integer()) {
    names.push_back(json[0].get<std::string>());
    return;
  }
  if (!json.is_structured()) return;
  for (const Json& inner : json) collect_inputs(inner, names);
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

KerasLayers::KerasLayers(const Json& layers, const std::string& file_name) : file_name_(file_name) {
  for (const Json& layer : layers) add(layer);
  for (const auto& [name, layer] : layers_) {
    for (const std::string& input : layer.inputs) outputs_[input].push_back(name);
  }
}

void KerasLayers::add(const Json& json) {
  KerasLayer layer;
  if (json.is_object()) {
    layer.kind = text_of(json, "class_name");
    layer.config = json.value("config", Json::object());
    layer.name = text_of(json, "name");
    if (layer.name.empty() && layer.config.is_object()) layer.name = text_of(layer.config, "name");
  }
  if (layer.kind.empty() || layer.name.empty() || !layer.config.is_object()) {
    fail("{}: its list of layers has an entry without a class, name or config", file_name_);
  }
  if (layer.config.contains("layers")) {
    refuse(layer, "it is a model inside of the model; save the inner one alone and import that");
  }
  if (json.contains("inbound_nodes")) collect_inputs(json["inbound_nodes"], layer.inputs);
  const std::string name = layer.name;
  if (!layers_.emplace(name, std::move(layer)).second) {
    fail("{}: has two layers '{}'", file_name_, printable(name));
  }
}

const KerasLayer* KerasLayers::find(const std::string& name) const {
  const auto found = layers_.find(name);
  return found == layers_.end() ? nullptr : &found->second;
}

const KerasLayer& KerasLayers::get(const std::string& name, const std::string& kind) const {
  const KerasLayer* layer = find(name);
  if (!layer) fail("{}: has no layer '{}' ({})", file_name_, printable(name), kind);
  if (layer->kind != kind) {
    refuse(*layer, fmt::format("it is a {}, where a {} is expected", printable(layer->kind), kind));
  }
  return *layer;
}

std::vector<const KerasLayer*> KerasLayers::after(const std::string& name) const {
  std::vector<const KerasLayer*> layers;
  const auto found = outputs_.find(name);
  if (found == outputs_.end()) return layers;
  for (const std::string& output : found->second) layers.push_back(find(output));
  return layers;
}

const KerasLayer& KerasLayers::input_of(const KerasLayer& layer) const {
  if (layer.inputs.size() != 1 || !find(layer.inputs[0])) {
    refuse(layer, fmt::format("one layer is expected before it, found {}", layer.inputs.size()));
  }
  return *find(layer.inputs[0]);
}

double KerasLayers::number(const KerasLayer& layer, const char* key) const {
  const auto found = layer.config.find(key);
  if (found == layer.config.end() || !found->is_number()) {
    refuse(layer, fmt::format("its config has no number '{}'", key));
  }
  return found->get<double>();
}

std::pair<int, int> KerasLayers::pair(const KerasLayer& layer, const char* key) const {
  const auto found = layer.config.find(key);
  if (found != layer.config.end()) {
    if (const auto both = io::int_of(*found)) return {*both, *both};
    if (found->is_array() && found->size() == 2) {
      const auto first = io::int_of((*found)[0]), second = io::int_of((*found)[1]);
      if (first && second) return {*first, *second};
    }
  }
  refuse(layer, fmt::format("its config has no pair of numbers '{}'", key));
}

std::string KerasLayers::text(const KerasLayer& layer, const char* key,
                              const std::string& usual) const {
  const auto found = layer.config.find(key);
  if (found == layer.config.end() || found->is_null()) return usual;
  if (!found->is_string()) refuse(layer, fmt::format("the '{}' of its config is not a text", key));
  return found->get<std::string>();
}

bool KerasLayers::flag(const KerasLayer& layer, const char* key, bool usual) const {
  const auto found = layer.config.find(key);
  if (found == layer.config.end() || found->is_null()) return usual;
  if (!found->is_boolean()) refuse(layer, fmt::format("the '{}' of its config is not a flag", key));
  return found->get<bool>();
}

void KerasLayers::refuse(const KerasLayer& layer, const std::string& why) const {
  fail("{}: is not supported: layer '{}': {}", file_name_, printable(layer.name), why);
}

}  // namespace sact::importing
