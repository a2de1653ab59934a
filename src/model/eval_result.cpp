#include "model/eval_result.h"

#include <cmath>
#include <cstdint>

#include "base/error.h"
#include "base/file.h"
#include "model/flops.h"

namespace sact {
namespace {

using io::Json;

Json to_json(const EvalOutcome& outcome, const ModelSpec& spec) {
  Json units = Json::array(), ponder = Json::array();
  for (const MeanStd& value : outcome.units) units.push_back(to_json(value));
  for (const MeanStd& value : outcome.ponder_cost) ponder.push_back(to_json(value));
  return {{"height", outcome.size.height},
          {"width", outcome.size.width},
          {"accuracy", outcome.accuracy},
          {"recall5", outcome.recall5},
          {"images", outcome.images},
          {"flops", to_json(outcome.flops)},
          {"dense_flops", dense_flops(spec, outcome.size)},
          {"units", units},
          {"ponder_cost", ponder},
          {"seconds", outcome.seconds},
          {"images_per_second", double(outcome.images) / outcome.seconds},
          {"network_images_per_second", double(outcome.images) / outcome.network_seconds}};
}

/// One object of the file, with errors that say where in it something is missing or wrong.
class Object {
 public:
  Object(const Json& json, std::string name) : json_(json), name_(std::move(name)) {
    if (!json.is_object()) fail("{}: must be a JSON object as 'sact eval --json' prints it", name_);
  }

  const Json& at(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) {
      fail("{}: has no '{}'; it must be what 'sact eval --json' prints", name_, key);
    }
    return *found;
  }

  double number(const char* key, double low, double high) const {
    const Json& value = at(key);
    if (!value.is_number() || !(value.get<double>() >= low && value.get<double>() <= high)) {
      fail("{}: '{}' must be a number from {} to {}, found {}", name_, key, low, high,
           printable(io::dump_json(value), 40));
    }
    return value.get<double>();
  }

  int whole(const char* key, int low, int high) const {
    const double value = number(key, low, high);
    if (value != std::floor(value)) fail("{}: '{}' must be a whole number", name_, key);
    return int(value);
  }

  Object object(const char* key) const {
    return Object(at(key), fmt::format("{}: '{}'", name_, key));
  }

  std::vector<Object> objects(const char* key) const {
    const Json& list = at(key);
    if (!list.is_array() || list.empty()) {
      fail("{}: '{}' must be a list with something in it", name_, key);
    }
    std::vector<Object> items;
    for (const Json& item : list) {
      items.emplace_back(item, fmt::format("{}: '{}'[{}]", name_, key, items.size()));
    }
    return items;
  }

 private:
  const Json& json_;
  std::string name_;
};

MeanStd mean_std(const Object& object, double high) {
  return {object.number("mean", 0, high), object.number("std", 0, high)};
}

EvalOutcome outcome_of(const Object& object) {
  constexpr double kMostFlops = 1e18, kMostUnits = 1e6;
  EvalOutcome outcome;
  outcome.size = {object.whole("height", 1, kMaxImageSide),
                  object.whole("width", 1, kMaxImageSide)};
  outcome.images = object.whole("images", 1, INT32_MAX);
  outcome.accuracy = object.number("accuracy", 0, 1);
  outcome.recall5 = object.number("recall5", 0, 1);
  outcome.flops = mean_std(object.object("flops"), kMostFlops);
  for (const Object& units : object.objects("units")) {
    outcome.units.push_back(mean_std(units, kMostUnits));
  }
  return outcome;
}

}  // namespace

io::Json to_json(const MeanStd& value) {
  return {{"mean", value.mean}, {"std", value.std}};
}

const EvalOutcome* EvalResult::find(Size size) const {
  for (const EvalOutcome& outcome : sizes) {
    if (outcome.size == size) return &outcome;
  }
  return nullptr;
}

io::Json to_json(const EvalResult& result) {
  SACT_ASSERT(result.spec && !result.sizes.empty());
  Json json = to_json(result.sizes.front(), *result.spec);
  json["model"] = result.model;
  json["spec"] = Json::parse(to_json(*result.spec));
  json["sizes"] = Json::array();
  for (const EvalOutcome& outcome : result.sizes) {
    json["sizes"].push_back(to_json(outcome, *result.spec));
  }
  return json;
}

EvalResult eval_result_from_json(std::string_view text, const std::string& name) {
  const Json json = io::parse_json(text, name);
  const Object top(json, name);
  EvalResult result;
  if (const auto model = json.find("model"); model != json.end() && model->is_string()) {
    result.model = model->get<std::string>();
  }
  if (const auto spec = json.find("spec"); spec != json.end()) {
    result.spec = spec_from_json(io::dump_json(*spec), name + ": its spec");
  }
  if (!json.contains("sizes")) {  // enough of a result, if one wrote down a single size by hand
    result.sizes.push_back(outcome_of(top));
  } else {
    for (const Object& size : top.objects("sizes")) result.sizes.push_back(outcome_of(size));
  }
  const size_t blocks = result.spec ? result.spec->units.size() : result.sizes.front().units.size();
  for (const EvalOutcome& outcome : result.sizes) {
    if (outcome.units.size() != blocks) {
      fail("{}: 'units' has {} blocks at {}x{} where the network has {}", name,
           outcome.units.size(), outcome.size.height, outcome.size.width, blocks);
    }
  }
  return result;
}

EvalResult read_eval_result(const std::filesystem::path& path) {
  const auto bytes = read_file(path, 64 << 20);
  return eval_result_from_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                               path.string());
}

const EvalOutcome& choose_outcome(const EvalResult& result, std::optional<Size> size,
                                  const std::string& name) {
  std::vector<Size> sizes;
  for (const EvalOutcome& outcome : result.sizes) sizes.push_back(outcome.size);
  if (size) {
    if (const EvalOutcome* outcome = result.find(*size)) return *outcome;
    fail("{}: has no result at {}; there are: {}", name, text_of({*size}), text_of(sizes));
  }
  if (sizes.size() == 1) return result.sizes.front();
  if (result.spec) {
    const int own = result.spec->input.size;
    if (const EvalOutcome* outcome = result.find({own, own})) return *outcome;
  }
  fail("{}: has results at {}; choose one of them with --size", name, text_of(sizes));
}

std::string text_of(const std::vector<Size>& sizes) {
  std::string text;
  for (const Size size : sizes) {
    text += fmt::format("{}{}x{}", text.empty() ? "" : ", ", size.height, size.width);
  }
  return text;
}

}  // namespace sact
