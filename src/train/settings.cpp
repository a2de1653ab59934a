#include "train/settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>

#include "base/error.h"
#include "io/json.h"

namespace sact::train {
namespace {

using io::Json;

/// Whether a run may be resumed with another value.
enum class Kind { kDefines, kRuns };

/// Calls visit(key, value, kind, help) for every setting: the one list of them.
template <typename Settings, typename Visit>
void for_each(Settings& s, Visit&& visit) {
  const Kind defines = Kind::kDefines, runs = Kind::kRuns;
  visit("data", s.data, defines,
        "image folder, CIFAR-10 folder, or synthetic[:size=64,count=5000]");
  visit("boxes", s.boxes, defines, "bounding boxes: a CSV file or a folder of XML files");
  visit("class_names", s.class_names, defines, "text file with names of the classes");
  visit("init", s.init, defines, "model file whose weights to start from");
  visit("depth", s.depth, defines, "50, 101 or 152; 0: see units");
  visit("units", s.units, defines, "residual units of each block, such as 3,4,23,3");
  visit("halting", s.halting, defines, "none, act or sact");
  visit("stem", s.stem, defines, "imagenet or small");
  visit("unit", s.unit, defines, "bottleneck or basic");
  visit("width", s.width, defines, "width of block 1");
  visit("epsilon", s.epsilon, defines, "positions halt at 1 - epsilon");
  visit("tile", s.tile, defines, "side of tiles that halt together");
  visit("halting_norm", s.halting_norm, defines, "batch norm before halting scores");
  visit("residual_scale", s.residual_scale, defines,
        "scale of every unit's last convolution at the start");
  visit("norm_decay", s.norm_decay, defines, "decay of the norms' moving averages");
  visit("halting_bias", s.halting_bias, defines, "initial bias of halting scores");
  visit("halting_scale", s.halting_scale, defines, "deviation of initial halting weights");
  visit("tau", s.tau, defines, "weight of the ponder cost in the loss");
  visit("epochs", s.epochs, defines, "passes over the training set");
  visit("batch", s.batch, defines, "images in a step, of each process");
  visit("rate", s.rate, defines, "learning rate");
  visit("schedule", s.schedule, defines, "step or cosine");
  visit("step_epochs", s.step_epochs, defines, "step schedule: epochs between drops");
  visit("step_factor", s.step_factor, defines, "step schedule: factor of a drop");
  visit("warmup_epochs", s.warmup_epochs, defines, "linear rise of the rate at the start");
  visit("momentum", s.momentum, defines, "momentum of SGD");
  visit("weight_decay", s.weight_decay, defines, "weight decay");
  visit("decay_norms", s.decay_norms, defines, "weight decay also on norms and biases");
  visit("label_smoothing", s.label_smoothing, defines, "share of the label given to all classes");
  visit("clip_norm", s.clip_norm, defines, "largest norm of the gradient; 0: no limit");
  visit("sync_norms", s.sync_norms, defines, "norm statistics over all processes, not in each");
  visit("precision", s.precision, defines, "fp32 or bf16 (CUDA)");
  visit("seed", s.seed, defines, "seed of weights, order and augmentation");
  visit("size", s.size, defines, "side of training images");
  visit("storage_size", s.storage_size, defines, "side at which images are kept; 0: from the data");
  visit("eval_size", s.eval_size, defines, "side of evaluation images; 0: as size");
  visit("crop_min_area", s.crop_min_area, defines, "smallest share of the image in a random crop");
  visit("crop_max_aspect", s.crop_max_aspect, defines, "largest aspect ratio of a random crop");
  visit("flip", s.flip, defines, "probability of a horizontal flip");
  visit("brightness", s.brightness, defines, "largest change of brightness");
  visit("contrast", s.contrast, defines, "largest change of contrast");
  visit("saturation", s.saturation, defines, "largest change of saturation");
  visit("hue", s.hue, defines, "largest change of hue, in turns of half a circle");
  visit("workers", s.workers, runs, "decoding threads; 0: all available");
  visit("cache", s.cache, runs, "keep decoded images: none, memory, or auto (where they fit)");
  visit("cuda_graph", s.cuda_graph, runs, "on CUDA, record a step's kernels once and replay them");
  visit("max_corrupt", s.max_corrupt, runs, "share of unreadable images that is tolerated");
  visit("log_every", s.log_every, runs, "steps between lines of the log");
  visit("checkpoint_minutes", s.checkpoint_minutes, runs, "time between checkpoints in an epoch");
  visit("eval_every", s.eval_every, runs, "epochs between evaluations; the last is always run");
  visit("samples", s.samples, runs, "ponder map pictures at every evaluation");
}

template <typename T>
Json to_value(const T& value) {
  return Json(value);
}

template <typename T>
std::string type_name() {
  if constexpr (std::is_same_v<T, bool>) return "true or false";
  if constexpr (std::is_same_v<T, std::string>) return "text";
  if constexpr (std::is_same_v<T, std::vector<int>>) return "a list of whole numbers";
  if constexpr (std::is_integral_v<T>) return "a whole number";
  return "a number";
}

template <typename T>
bool fits(const Json& json) {
  if constexpr (std::is_same_v<T, bool>) return json.is_boolean();
  if constexpr (std::is_same_v<T, std::string>) return json.is_string();
  if constexpr (std::is_same_v<T, std::vector<int>>) {
    return json.is_array() &&
           std::all_of(json.begin(), json.end(), [](const Json& item) { return fits<int>(item); });
  }
  if constexpr (std::is_same_v<T, double>) return json.is_number();
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (!json.is_number_integer()) return false;
    const bool large =
        json.is_number_unsigned() && json.get<uint64_t>() > uint64_t(std::numeric_limits<T>::max());
    return !large && (json.is_number_unsigned() ||
                      json.get<int64_t>() >= int64_t(std::numeric_limits<T>::min()));
  }
  return false;
}

template <typename T>
T from_value(const Json& json, const std::string& what) {
  if (!fits<T>(json)) {
    fail("{} must be {}, found {}", what, type_name<T>(), printable(io::dump_json(json), 40));
  }
  return json.get<T>();
}

/// Text from the command line as JSON of the wanted type.
template <typename T>
Json json_from_text(const std::string& text) {
  if constexpr (std::is_same_v<T, std::string>) return text;
  std::string json = text;
  if constexpr (std::is_same_v<T, std::vector<int>>) json = "[" + text + "]";
  try {
    return Json::parse(json);
  } catch (const Json::exception&) {
    return text;  // of the wrong type, which from_value() reports
  }
}

template <typename T>
void in_range(const char* key, T value, T low, T high) {
  if (!(value >= low && value <= high)) {
    fail("setting '{}' must be between {} and {}, found {}", key, low, high, value);
  }
}

void one_of_names(const char* key, const std::string& value,
                  std::initializer_list<std::string_view> names) {
  if (std::find(names.begin(), names.end(), value) == names.end()) {
    fail("setting '{}' must be {}, found '{}'", key, one_of(names), printable(value));
  }
}

}  // namespace

void validate(const TrainSettings& s) {
  if (s.data.empty()) fail("setting 'data' is missing: give an image folder, or data=synthetic");
  one_of_names("halting", s.halting, {"none", "act", "sact"});
  one_of_names("stem", s.stem, {"imagenet", "small"});
  one_of_names("unit", s.unit, {"bottleneck", "basic"});
  one_of_names("schedule", s.schedule, {"step", "cosine"});
  one_of_names("precision", s.precision, {"fp32", "bf16"});
  one_of_names("cache", s.cache, {"auto", "none", "memory"});
  if (s.depth != 0 && !s.units.empty()) fail("give 'depth' or 'units', not both");
  in_range("residual_scale", s.residual_scale, 0.0, 10.0);
  in_range("norm_decay", s.norm_decay, 0.0, 1.0);
  in_range("epochs", s.epochs, 1, 100000);
  in_range("batch", s.batch, 1, 65536);
  in_range("rate", s.rate, 0.0, 1000.0);
  in_range("step_epochs", s.step_epochs, 1, 100000);
  in_range("step_factor", s.step_factor, 0.0, 1.0);
  in_range("warmup_epochs", s.warmup_epochs, 0.0, double(s.epochs));
  in_range("momentum", s.momentum, 0.0, 0.9999);
  in_range("weight_decay", s.weight_decay, 0.0, 1.0);
  in_range("label_smoothing", s.label_smoothing, 0.0, 0.99);
  in_range("clip_norm", s.clip_norm, 0.0, 1e9);
  in_range("tau", s.tau, 0.0, 1000.0);
  in_range("halting_bias", s.halting_bias, -100.0, 100.0);
  in_range("halting_scale", s.halting_scale, 0.0, 100.0);
  in_range("size", s.size, 32, 4096);
  if (s.storage_size != 0) in_range("storage_size", s.storage_size, 32, 4096);
  if (s.eval_size != 0) in_range("eval_size", s.eval_size, 32, 4096);
  in_range("crop_min_area", s.crop_min_area, 0.001, 1.0);
  in_range("crop_max_aspect", s.crop_max_aspect, 1.0, 10.0);
  in_range("flip", s.flip, 0.0, 1.0);
  in_range("brightness", s.brightness, 0.0, 1.0);
  in_range("contrast", s.contrast, 0.0, 1.0);
  in_range("saturation", s.saturation, 0.0, 1.0);
  in_range("hue", s.hue, 0.0, 1.0);
  in_range("workers", s.workers, 0, 1024);
  in_range("max_corrupt", s.max_corrupt, 0.0, 1.0);
  in_range("log_every", s.log_every, 1, 1'000'000);
  in_range("checkpoint_minutes", s.checkpoint_minutes, 0.0, 1e6);
  in_range("eval_every", s.eval_every, 1, 100000);
  in_range("samples", s.samples, 0, 1000);
}

std::string to_json(const TrainSettings& settings, int indent) {
  Json json = Json::object();
  for_each(settings, [&](const char* key, const auto& value, Kind, const char*) {
    json[key] = to_value(value);
  });
  return io::dump_json(json, indent);
}

TrainSettings settings_from_json(std::string_view text, const std::string& name,
                                 TrainSettings base) {
  const Json json = io::parse_json(text, name);
  if (!json.is_object()) fail("{}: must be a JSON object with settings", name);
  size_t used = 0;
  for_each(base, [&](const char* key, auto& value, Kind, const char*) {
    const auto found = json.find(key);
    if (found == json.end()) return;
    ++used;
    value = from_value<std::decay_t<decltype(value)>>(*found, fmt::format("{}: '{}'", name, key));
  });
  if (used == json.size()) return base;
  for (const auto& [key, value] : json.items()) {
    bool known = false;
    for_each(base, [&](const char* other, auto&, Kind, const char*) { known |= key == other; });
    if (!known)
      fail("{}: there is no setting '{}'; 'sact train --settings' lists them", name,
           printable(key));
  }
  return base;
}

void set_from_text(TrainSettings& settings, const std::string& assignment) {
  const size_t equals = assignment.find('=');
  if (equals == assignment.npos) {
    fail("'{}' is not a setting: write key=value, such as epochs=40", printable(assignment));
  }
  const std::string name = assignment.substr(0, equals), text = assignment.substr(equals + 1);
  bool known = false;
  for_each(settings, [&](const char* key, auto& value, Kind, const char*) {
    if (name != key) return;
    known = true;
    using T = std::decay_t<decltype(value)>;
    value = from_value<T>(json_from_text<T>(text), fmt::format("setting '{}'", key));
  });
  if (!known) fail("there is no setting '{}'; 'sact train --settings' lists them", printable(name));
}

std::string settings_help() {
  std::string text = "Settings (key=value), with their defaults:\n";
  TrainSettings defaults;
  for_each(defaults, [&](const char* key, const auto& value, Kind, const char* help) {
    const std::string assigned = fmt::format("{}={}", key, io::dump_json(to_value(value)));
    text += fmt::format("  {:<28} {}\n", assigned, help);
  });
  return text;
}

std::vector<std::string> differences(const TrainSettings& run, const TrainSettings& asked,
                                     bool all) {
  const Json before = Json::parse(to_json(run)), after = Json::parse(to_json(asked));
  std::vector<std::string> list;
  TrainSettings copy = run;
  for_each(copy, [&](const char* key, auto&, Kind kind, const char*) {
    if ((all || kind == Kind::kDefines) && before[key] != after[key]) {
      list.push_back(
          fmt::format("{}: {} -> {}", key, io::dump_json(before[key]), io::dump_json(after[key])));
    }
  });
  return list;
}

}  // namespace sact::train
