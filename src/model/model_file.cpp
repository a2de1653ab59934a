#include "model/model_file.h"

#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "model/spec_from_weights.h"
#include "model/weight_check.h"

namespace sact {
namespace {

void check_weight(const io::SafetensorsFile& file, const WeightInfo& weight) {
  const io::TensorView* view = file.find(weight.name);
  if (!view) {
    fail(
        "{}: tensor '{}' of shape {} is missing; the file does not hold the network that its "
        "spec describes",
        file.name(), weight.name, io::shape_text(weight.shape));
  }
  if (!has_shape_of(*view, weight)) {
    fail("{}: tensor '{}' must have the shape {}, found {}", file.name(), weight.name,
         io::shape_text(weight.shape), io::shape_text(view->shape));
  }
  if (!is_floating(view->dtype) && view->dtype != io::Dtype::kI8) {
    fail("{}: tensor '{}' must hold floating point numbers (F32, F64, F16 or BF16), found {}",
         file.name(), weight.name, io::dtype_name(view->dtype));
  }
}

/// The layer of a weight, "stages.0.blocks.0.conv1" of its ".weight".
std::string layer_of(const WeightInfo& weight) {
  constexpr std::string_view kEnd = ".weight";
  SACT_ASSERT(weight.name.ends_with(kEnd));
  return weight.name.substr(0, weight.name.size() - kEnd.size());
}

/// The scales of whole numbers: as many as `count`, above 0.
std::vector<float> scale_values(const io::SafetensorsFile& file, const std::string& tensor,
                                int64_t count) {
  const io::TensorView* view = file.find(tensor);
  if (!view) {
    fail("{}: tensor '{}' of shape [{}] is missing, which says what whole numbers stand for",
         file.name(), tensor, count);
  }
  if (view->shape != io::Shape{count} || view->dtype != io::Dtype::kF32) {
    fail("{}: tensor '{}' must be F32 of the shape [{}], found {} of {}", file.name(), tensor,
         count, io::dtype_name(view->dtype), io::shape_text(view->shape));
  }
  std::vector<float> scales = io::float_values(*view, tensor);
  for (const float scale : scales) {
    if (!std::isfinite(scale) || scale <= 0) {
      fail("{}: tensor '{}' holds scales, which are above 0, but one is {:g}", file.name(), tensor,
           scale);
    }
  }
  return scales;
}

std::string list_some(const std::vector<std::string>& names) {
  constexpr size_t kShown = 3;
  std::string text;
  for (size_t i = 0; i < names.size() && i < kShown; ++i) {
    text += fmt::format("{}'{}'", i ? ", " : "", printable(names[i], 80));
  }
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text;
}

}  // namespace

ModelFile::ModelFile(const std::filesystem::path& path) : file_(path) {
  const auto stored = file_.metadata().find(kSpecKey);
  spec_was_stored_ = stored != file_.metadata().end();
  spec_ = spec_was_stored_ ? spec_from_json(stored->second, name() + ": its spec")
                           : spec_from_weights(file_.tensors(), name());

  if (!spec_was_stored_) {
    remarks_.push_back(fmt::format(
        "{}: has no spec; it was worked out from the weights, and the usual mean, std and crop of "
        "input images are assumed; 'sact {}' writes a file that has its own (--mean, --std, "
        "--crop, "
        "--size, --labels)",
        name(), spec_.adaptive() ? "export" : "import"));
  }
  if (const auto dial = file_.metadata().find(kDialKey); dial != file_.metadata().end()) {
    dial_ = dial_from_json(dial->second, name() + ": its dial");
  }
  std::set<std::string, std::less<>> used;
  for (const WeightInfo& weight : weight_list(spec_)) {
    check_weight(file_, weight);
    used.insert(weight.name);
  }
  read_input_scales();
  for (const QuantizedLayer& layer : quantized_layers(spec_)) {
    used.insert({input_scale_name(layer.name), weight_scale_name(layer.name)});
  }
  std::vector<std::string> unused;
  for (const auto& [tensor, view] : file_.tensors()) {
    if (!used.contains(tensor) && !tensor.ends_with(".num_batches_tracked")) {
      unused.push_back(tensor);
    }
  }
  if (!unused.empty()) {
    remarks_.push_back(fmt::format("{}: {} tensor{} not part of the network: {}", name(),
                                   unused.size(), unused.size() == 1 ? " is" : "s are",
                                   list_some(unused)));
  }
  std::vector<std::string> unknown;
  for (const auto& [key, value] : spec_.unknown) unknown.push_back(key);
  for (const auto& [key, value] : spec_.input.unknown) unknown.push_back("input." + key);
  if (spec_.detection) {
    for (const auto& [key, value] : spec_.detection->unknown) unknown.push_back("detection." + key);
  }
  if (!unknown.empty()) {
    remarks_.push_back(fmt::format("{}: its spec has keys that are not known here: {}", name(),
                                   list_some(unknown)));
  }
}

/// Where one layer has whole numbers, or a scale, all that can must have both.
void ModelFile::read_input_scales() {
  const std::vector<QuantizedLayer> layers = quantized_layers(spec_);
  std::set<std::string, std::less<>> names;
  for (const QuantizedLayer& layer : layers) names.insert(layer.name);
  bool any = false;
  for (const WeightInfo& weight : weight_list(spec_)) {
    if (file_.find(weight.name)->dtype != io::Dtype::kI8) continue;
    if (!weight.name.ends_with(".weight") || !names.contains(layer_of(weight))) {
      fail("{}: tensor '{}' must hold floating point numbers (F32, F64, F16 or BF16), found I8",
           name(), weight.name);
    }
    scale_values(file_, weight_scale_name(layer_of(weight)), weight.shape[0]);
    any = true;
  }
  for (const QuantizedLayer& layer : layers) any |= bool(file_.find(input_scale_name(layer.name)));
  if (!any) return;
  for (const QuantizedLayer& layer : layers) {
    input_scales_[layer.name] = scale_values(file_, input_scale_name(layer.reads_like), 1).front();
  }
}

std::vector<float> ModelFile::values(const WeightInfo& weight) const {
  const io::TensorView* view = file_.find(weight.name);
  SACT_ASSERT(view);
  if (view->dtype == io::Dtype::kI8) {
    const std::vector<std::byte> bytes = view->bytes.read();
    const std::span values(reinterpret_cast<const int8_t*>(bytes.data()), bytes.size());
    return dequantized(values,
                       scale_values(file_, weight_scale_name(layer_of(weight)), weight.shape[0]));
  }
  return weight_values(*view, weight.role, weight.name, name());
}

void expect_classifier(const ModelFile& file) {
  if (file.spec().detection) {
    fail("{}: is a detector, which finds objects and does not classify images: use 'sact detect'",
         file.name());
  }
}

void expect_detector(const ModelFile& file) {
  if (!file.spec().detection) {
    fail("{}: classifies images and does not find objects in them: use 'sact predict'",
         file.name());
  }
}

io::Dtype ModelFile::dtype() const {
  std::map<io::Dtype, int64_t> elements;
  for (const auto& [name, view] : file_.tensors()) elements[view.dtype] += view.elements();
  auto most = elements.begin();
  for (auto it = elements.begin(); it != elements.end(); ++it) {
    if (it->second > most->second) most = it;
  }
  return most->first;
}

void ModelFile::write_with_dial(const std::filesystem::path& path, const Dial& dial) const {
  write_with(path, spec_, {{std::string(kDialKey), io::dump_json(to_json(dial))}});
}

void ModelFile::write_with_box_cuts(const std::filesystem::path& path, std::vector<BoxCut> cuts,
                                    int proposals) const {
  ModelSpec spec = spec_;
  spec.detection->proposals = proposals;
  spec.detection->box_cuts = std::move(cuts);
  validate(spec, path.string());
  write_with(path, spec, {});
}

void ModelFile::write_with(const std::filesystem::path& path, const ModelSpec& spec,
                           const io::Metadata& more) const {
  std::vector<io::NamedTensor> tensors;
  for (const auto& [tensor, view] : file_.tensors()) tensors.push_back({tensor, view});
  io::Metadata metadata = file_.metadata();
  metadata[std::string(kSpecKey)] = to_json(spec);
  for (const auto& [key, value] : more) metadata[key] = value;
  io::write_safetensors(path, tensors, metadata);
}

std::vector<Weight> read_weights(const ModelFile& file, const ModelSpec& spec) {
  std::vector<Weight> weights;
  for (const WeightInfo& info : weight_list(spec)) weights.push_back({info, file.values(info)});
  return weights;
}

namespace {

void check_fits_f16(const Weight& weight, const std::filesystem::path& path) {
  constexpr float kLargest = 65504;
  for (float value : weight.values) {
    if (std::abs(value) > kLargest) {
      fail("{}: '{}' has a value of {:g}, more than 16-bit floats (F16) can hold: use bf16 or f32",
           path.string(), weight.info.name, value);
    }
  }
}

}  // namespace

void write_model(const std::filesystem::path& path, const ModelSpec& spec,
                 const std::vector<Weight>& weights, io::Dtype dtype,
                 const std::optional<Dial>& dial, const InputScales& input_scales) {
  validate(spec, path.string());
  std::vector<std::vector<std::byte>> storage;
  std::vector<io::NamedTensor> tensors;
  const auto add = [&](const std::string& name, io::Dtype stored, const io::Shape& shape,
                       std::vector<std::byte> bytes) {
    storage.push_back(std::move(bytes));
    tensors.push_back({name, {stored, shape, storage.back()}});
  };
  const auto add_floats = [&](const std::string& name, const std::vector<float>& values) {
    add(name, io::Dtype::kF32, {int64_t(values.size())}, io::stored_as(values, io::Dtype::kF32));
  };
  storage.reserve(weights.size() + 2 * input_scales.size());
  for (const Weight& weight : weights) {
    const bool large =
        weight.info.role == WeightRole::kConvolution || weight.info.role == WeightRole::kLinear;
    if (large && input_scales.contains(layer_of(weight.info))) {
      const QuantizedWeights whole = quantized(weight.values, weight.info.shape[0]);
      const auto bytes = std::as_bytes(std::span(whole.values));
      add(weight.info.name, io::Dtype::kI8, weight.info.shape, {bytes.begin(), bytes.end()});
      add_floats(weight_scale_name(layer_of(weight.info)), whole.scales);
      continue;
    }
    const io::Dtype stored = large ? dtype : io::Dtype::kF32;
    if (stored == io::Dtype::kF16) check_fits_f16(weight, path);
    add(weight.info.name, stored, weight.info.shape, io::stored_as(weight.values, stored));
  }
  if (!input_scales.empty()) {
    for (const QuantizedLayer& layer : quantized_layers(spec)) {
      if (layer.name != layer.reads_like) continue;
      add_floats(input_scale_name(layer.name), {input_scales.at(layer.name)});
    }
  }
  io::Metadata metadata = {{std::string(kSpecKey), to_json(spec)}, {"format", "pt"}};
  if (dial) metadata[std::string(kDialKey)] = io::dump_json(to_json(*dial));
  io::write_safetensors(path, tensors, metadata);
}

}  // namespace sact
