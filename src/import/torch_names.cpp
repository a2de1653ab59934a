// PyTorch state dicts of residual networks, whose names are ours but for a prefix; and those that
// look like them and are not.
#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "data/fields.h"
#include "import/named_network.h"
#include "io/json_numbers.h"
#include "model/architecture.h"

namespace sact::importing {
namespace {

using io::Json;

constexpr const char* kTorchvision = "as torchvision and timm have it";
constexpr const char* kResnetV2 = "as timm's resnetv2 networks have it";

/// Whether names start as those of a whole network do.
bool has_known_names(const io::TensorTable& tensors) {
  for (const char* first : {"conv1.", "layer1.", "stem.", "stages."}) {
    const auto found = tensors.lower_bound(first);
    if (found != tensors.end() && found->first.starts_with(first)) return true;
  }
  return false;
}

/// The word before the first dot, where all names share it.
std::string shared_prefix(const io::TensorTable& tensors) {
  if (tensors.empty()) return {};
  const std::string& first = tensors.begin()->first;
  const size_t dot = first.find('.');
  if (dot == first.npos) return {};
  const std::string prefix = first.substr(0, dot + 1);
  const bool shared = std::all_of(tensors.begin(), tensors.end(), [&](const auto& tensor) {
    return tensor.first.starts_with(prefix);
  });
  return shared ? prefix : std::string();
}

/// "module." of parallel training, "model." of frameworks: what all names begin with goes.
void strip_prefixes(NamedNetwork& network) {
  while (!has_known_names(network.tensors)) {
    const std::string prefix = shared_prefix(network.tensors);
    if (prefix.empty()) break;
    io::TensorTable rest;
    for (const auto& [name, view] : network.tensors) rest[name.substr(prefix.size())] = view;
    network.tensors = std::move(rest);
    network.prefix += prefix;
  }
  if (network.prefix.empty()) return;
  network.notes.push_back(
      fmt::format("the prefix '{}' of all names was removed", printable(network.prefix)));
}

/// Numbers that training keeps and that a network does not use.
void drop_counters(NamedNetwork& network) {
  for (auto tensor = network.tensors.begin(); tensor != network.tensors.end();) {
    if (tensor->first.ends_with(".num_batches_tracked")) {
      network.ignored.push_back(network.source_name(tensor->first));
      tensor = network.tensors.erase(tensor);
    } else {
      ++tensor;
    }
  }
}

/// Says in one line why a network cannot be run here, and by which tensor it is told.
class Unsupported {
 public:
  Unsupported(const NamedNetwork& network, const std::string& file_name, const ModelSpec& spec)
      : network_(network), tensors_(network.tensors), file_name_(file_name), spec_(spec) {}

  void check() const {
    check_parts();
    check_stem();
    check_first_unit();
    check_head();
  }

 private:
  [[noreturn]] void refuse(const std::string& tensor, const std::string& why) const {
    fail("{}: is not supported: {} (tensor '{}')", file_name_, why,
         printable(network_.source_name(tensor)));
  }
  const io::TensorView* find(const std::string& name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : &found->second;
  }
  /// The tensor, if it has that many dimensions.
  const io::TensorView* find(const std::string& name, size_t rank) const {
    const io::TensorView* view = find(name);
    return view && view->shape.size() == rank ? view : nullptr;
  }

  void check_parts() const {
    struct Part {
      const char *in_name, *what;
    };
    constexpr Part kParts[] = {
        {".se.", "its units weigh their channels (squeeze and excitation)"},
        {".se_module.", "its units weigh their channels (squeeze and excitation)"},
        {".eca.", "its units weigh their channels (efficient channel attention)"},
        {"attnpool.", "its head pools with attention, as CLIP's do"},
        {".attn.", "its units have attention"},
        {".conv2.fc1.", "its units have split attention (ResNeSt)"},
        {".conv2.conv_reduce.", "its units choose between kernels (SKNet)"},
        {".convs.0.", "its units are of several scales (Res2Net)"},
    };
    for (const auto& [name, view] : tensors_) {
      for (const Part& part : kParts) {
        if (name.find(part.in_name) != name.npos) refuse(name, part.what);
      }
    }
  }

  void check_stem() const {
    for (const char* deep : {"conv1.0.weight", "stem.conv1.weight", "stem.0.weight"}) {
      if (find(deep)) refuse(deep, "its stem is of three 3x3 convolutions (ResNet-C, D or T)");
    }
    const std::string stem = stem_of(spec_)->convolution.name + ".weight";
    const io::TensorView* view = find(stem, 4);
    if (view && view->shape[1] != 3) {
      refuse(stem, fmt::format("it takes images of {} channels, and not of 3", view->shape[1]));
    }
  }

  void check_first_unit() const {
    const std::string unit = unit_prefix(spec_, 0, 0);
    for (const char* shortcut : {"downsample.1.weight", "downsample.2.weight"}) {
      if (find(unit + shortcut, 4)) {
        refuse(unit + shortcut, "its shortcuts pool before they convolve (ResNet-D)");
      }
    }
    const std::string norm = unit + (is_preactivation(spec_.unit) ? "norm1" : "bn1");
    if (find(norm + ".weight") && !find(norm + ".running_mean")) {
      refuse(norm + ".weight",
             "its norms have no moving averages: group norm, as in BiT and resnet50_gn");
    }
    const io::TensorView* stem = find(stem_of(spec_)->convolution.name + ".weight", 4);
    const io::TensorView *first = find(unit + "conv1.weight", 4),
                         *second = find(unit + "conv2.weight", 4);
    if (!stem || !first || !second) return;  // the check of all tensors names them
    if (second->shape[1] != first->shape[0]) {
      refuse(
          unit + "conv2.weight",
          fmt::format("its convolutions are in groups, as in ResNeXt: {} channels of {} enter each",
                      second->shape[1], first->shape[0]));
    }
    if (first->shape[0] != stem->shape[0]) {
      refuse(unit + "conv1.weight",
             fmt::format("its units are {} channels wide after a stem of {}, as in wide networks",
                         first->shape[0], stem->shape[0]));
    }
    const bool basic = !find(unit + "conv3.weight");
    if (is_preactivation(spec_.unit) && basic && !find(unit + "downsample.conv.weight")) {
      refuse(unit + "conv1.weight",
             "the first unit has no shortcut convolution, which pre-activation units of two "
             "convolutions need here");
    }
  }

  void check_head() const {
    const std::string head = Architecture(spec_).head->linear.name + ".weight";
    if (!find(head)) {
      fail(
          "{}: has no classifier: there is no tensor '{}'; networks for features alone cannot be "
          "imported",
          file_name_, network_.source_name(head));
    }
  }

  const NamedNetwork& network_;
  const io::TensorTable& tensors_;
  const std::string& file_name_;
  const ModelSpec& spec_;
};

/// What the library does that trained most networks of these names.
void assume_usual(NamedNetwork& network, const ModelSpec& spec) {
  const bool v2 = is_preactivation(spec.unit);
  const char* from = v2 ? kResnetV2 : kTorchvision;
  const InputSpec usual;
  network.library = v2 ? "timm resnetv2" : "torchvision or timm resnet";
  network.stride_on = {StrideOn::k3x3, from};
  network.pool = {StemPool::kSymmetric, from};
  network.norm_epsilon = {1e-5, from};
  network.size = {usual.size, from};
  network.crop = {usual.crop, from};
  network.mean = {v2 ? std::array{0.5, 0.5, 0.5} : usual.mean, from};
  network.std = {v2 ? std::array{0.5, 0.5, 0.5} : usual.std, from};
  network.bgr = {false, from};
}

std::optional<std::array<double, 3>> three_numbers(const Json& json) {
  if (!json.is_array() || json.size() != 3) return std::nullopt;
  std::array<double, 3> values;
  for (size_t i = 0; i < 3; ++i) {
    if (!json[i].is_number()) return std::nullopt;
    values[i] = json[i].get<double>();
  }
  return values;
}

/// timm publishes networks with a config.json beside them, which tells the input they were trained
/// on.
void read_timm_config(NamedNetwork& network, const std::filesystem::path& file) {
  const auto path = file.parent_path() / "config.json";
  if (!std::filesystem::is_regular_file(path)) return;
  const auto bytes = read_file(path, 16 << 20);
  const Json json =
      io::parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string());
  if (!json.is_object() || !json.contains("pretrained_cfg")) return;
  const std::string architecture =
      json.value("architecture", Json()).is_string() ? json["architecture"].get<std::string>() : "";
  for (const char* smoothed : {"resnetblur", "resnetaa"}) {
    if (architecture.find(smoothed) != architecture.npos) {
      fail("{}: is not supported: {} says that it is a '{}', which smooths before it takes strides",
           file.string(), path.string(), printable(architecture));
    }
  }
  const Json& config = json["pretrained_cfg"];
  if (!config.is_object()) return;
  const std::string from = path.filename().string();
  if (const auto mean = three_numbers(config.value("mean", Json()))) network.mean = {*mean, from};
  if (const auto std = three_numbers(config.value("std", Json()))) network.std = {*std, from};
  if (const Json crop = config.value("crop_pct", Json()); crop.is_number()) {
    network.crop = {crop.get<double>(), from};
  }
  const Json size = config.value("input_size", Json());
  if (size.is_array() && size.size() == 3 && size[2].is_number_integer() && size[1] == size[2]) {
    const auto side = io::int_of(size[2]);
    if (!side) fail("{}: its 'input_size' has {}", path.string(), io::dump_json(size[2]));
    network.size = {*side, from};
  }
}

}  // namespace

NamedNetwork name_torch_network(Source source) {
  NamedNetwork network;
  network.tensors = std::move(source.tensors);
  network.memory = std::move(source.memory);
  network.ignored = std::move(source.ignored);
  strip_prefixes(network);
  drop_counters(network);
  ModelSpec spec;
  const auto starts = [&](const char* prefix) {
    const auto found = network.tensors.lower_bound(prefix);
    return found != network.tensors.end() && found->first.starts_with(prefix);
  };
  if (starts("layer1.") && starts("conv1.")) {
    spec.unit = UnitKind::kBottleneckV1;
  } else if (starts("stages.0.blocks.") && starts("stem.conv")) {
    spec.unit = UnitKind::kBottleneck;
  } else {
    std::vector<std::string> names;
    for (const auto& [name, view] : network.tensors) names.push_back(network.source_name(name));
    fail(
        "{}: holds no network that is known here: {}; known are the names of torchvision's and "
        "timm's resnet ('conv1.weight', 'layer1.0.conv1.weight', ...), of timm's resnetv2 "
        "('stem.conv.weight', 'stages.0.blocks.0.conv1.weight', ...) and of Keras' ResNet",
        source.name,
        names.empty() ? "it has no tensors" : "its tensors are " + data::listed(names, 3));
  }
  assume_usual(network, spec);
  Unsupported(network, source.name, spec).check();
  read_timm_config(network, source.files.front());
  return network;
}

}  // namespace sact::importing
