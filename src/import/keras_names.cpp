// Keras' ResNets: layer names, layouts and configs. Every layer is followed from the input to the
// classifier, so that a network which only has the names of one is refused.
#include <algorithm>
#include <deque>
#include <set>

#include "base/error.h"
#include "data/fields.h"
#include "import/keras_layers.h"
#include "import/layout.h"
#include "import/named_network.h"
#include "io/json_numbers.h"
#include "model/architecture.h"

namespace sact::importing {
namespace {

constexpr const char* kConfigs = "the layers' configs";
constexpr const char* kKeras = "as Keras' ResNet has it";
constexpr int kBranches = 3;  // convolutions of a unit

/// A convolution and the norm after it.
struct LayerPair {
  std::string convolution, norm;
};

/// Of Keras before 2.2.5 and of Caffe ("res2a_branch2a"), or of today ("conv2_block1_1_conv").
class KerasNames {
 public:
  KerasNames(bool old_names, const io::TensorTable& tensors) : old_(old_names), tensors_(tensors) {}

  LayerPair stem() const {
    return old_ ? LayerPair{"conv1", "bn_conv1"} : LayerPair{"conv1_conv", "conv1_bn"};
  }
  /// A unit's convolution, from 1; the shortcut is 0.
  LayerPair convolution(int block, int unit, int number) const {
    if (!old_) {
      const std::string name = fmt::format("conv{}_block{}_{}", block + 2, unit + 1, number);
      return {name + "_conv", name + "_bn"};
    }
    const std::string branch = number == 0 ? "1" : fmt::format("2{}", char('a' + number - 1));
    std::string place = fmt::format("{}{}", block + 2, unit_letter(unit));
    const std::string counted = fmt::format("{}b{}", block + 2, unit);  // of deep networks
    if (unit > 0 && tensors_.contains(fmt::format("res{}_branch2a/kernel", counted)))
      place = counted;
    return {fmt::format("res{}_branch{}", place, branch),
            fmt::format("bn{}_branch{}", place, branch)};
  }
  /// Up to the last unit that has a tensor.
  std::vector<int> units() const {
    constexpr int kMostBlocks = 6, kMostUnits = 200;
    std::vector<int> units;
    for (int block = 0; block < kMostBlocks; ++block) {
      int count = 0;
      for (int unit = 0; unit < kMostUnits; ++unit) {
        for (int number = 1; number <= kBranches; ++number) {
          if (tensors_.contains(convolution(block, unit, number).convolution + "/kernel")) {
            count = unit + 1;
          }
        }
      }
      if (count == 0) break;
      units.push_back(count);
    }
    return units;
  }

 private:
  static std::string unit_letter(int unit) {
    return unit < 26 ? std::string(1, char('a' + unit)) : fmt::format("b{}", unit);
  }

  bool old_;
  const io::TensorTable& tensors_;
};

struct KerasMemory {
  std::shared_ptr<const void> source;
  std::deque<std::vector<std::byte>> changed;
};

class KerasReader {
 public:
  explicit KerasReader(Source source)
      : source_(std::move(source)),
        layers_(*source_.layers, source_.name),
        names_(has("res2a_branch2a/kernel"), source_.tensors),
        memory_(std::make_shared<KerasMemory>()) {
    memory_->source = source_.memory;
    network_.memory = memory_;
    network_.library = "Keras ResNet";
  }

  NamedNetwork read() {
    expect_known_names();
    ModelSpec spec;
    spec.unit = UnitKind::kBottleneckV1;
    spec.units = names_.units();
    std::string state = read_stem(spec);
    for (int block = 0; block < spec.blocks(); ++block) {
      for (int unit = 0; unit < spec.units[size_t(block)]; ++unit) {
        state = read_unit(spec, block, unit, state);
      }
    }
    read_head(state, Architecture(spec).head->linear.name);
    const auto& [lowest, epsilon] =
        *std::min_element(network_.norm_epsilons.begin(), network_.norm_epsilons.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
    network_.norm_epsilon = {epsilon, kConfigs};
    assume_usual_input();
    for (const auto& [name, view] : source_.tensors) {
      if (!used_.contains(name)) network_.tensors.emplace(name, view);  // for the check to name
    }
    return std::move(network_);
  }

 private:
  bool has(const std::string& tensor) const { return source_.tensors.contains(tensor); }

  void expect_known_names() const {
    if (has("res2a_branch2a/kernel") || has("conv2_block1_1_conv/kernel")) {
      for (const char* v2 : {"conv2_block1_preact_bn/gamma", "post_bn/gamma"}) {
        if (has(v2)) {
          fail(
              "{}: is not supported: Keras' ResNetV2 takes its strides in the last unit of a block "
              "(tensor '{}')",
              source_.name, v2);
        }
      }
      return;
    }
    std::vector<std::string> names;
    for (const auto& [name, view] : source_.tensors) names.push_back(name);
    fail(
        "{}: holds no network that is known here: {}; known are the names of Keras' ResNet "
        "('res2a_branch2a/kernel' or 'conv2_block1_1_conv/kernel')",
        source_.name,
        names.empty() ? "it has no tensors" : "its tensors are " + data::listed(names, 3));
  }

  void take(const std::string& theirs, const std::string& ours,
            const std::vector<int>& order = {}) {
    network_.source_names[ours] = theirs;
    const auto found = source_.tensors.find(theirs);
    if (found == source_.tensors.end()) return;  // the check of all tensors names it
    used_.insert(theirs);
    io::TensorView view = found->second;
    if (!order.empty()) {
      if (view.shape.size() != order.size()) {
        fail("{}: tensor '{}' has the shape {}, but {} dimensions are expected", source_.name,
             printable(theirs), io::shape_text(view.shape), order.size());
      }
      view = permuted(view, order, memory_->changed.emplace_back());
    }
    network_.tensors[ours] = view;
  }

  /// A parameter that a norm may do without.
  void take_or_fill(const KerasLayer& layer, const char* switch_name, const std::string& theirs,
                    const std::string& ours, const std::string& like, float value) {
    if (layers_.flag(layer, switch_name, true)) return take(theirs, ours);
    const auto shaped = source_.tensors.find(like);
    if (shaped == source_.tensors.end()) return;
    const std::vector<float> values(static_cast<size_t>(shaped->second.elements()), value);
    network_.tensors[ours] = {
        io::Dtype::kF32, shaped->second.shape,
        memory_->changed.emplace_back(io::stored_as(values, io::Dtype::kF32))};
  }

  void expect_plain(const KerasLayer& layer) const {
    if (layers_.text(layer, "data_format", "channels_last") != "channels_last") {
      layers_.refuse(layer, "its channels come first");
    }
    const std::string activation = layers_.text(layer, "activation", "linear");
    if (layer.kind == "Conv2D" && activation != "linear") {
      layers_.refuse(layer, fmt::format("its activation is '{}'", printable(activation)));
    }
  }

  struct Taken {
    std::string norm;
    int stride = 1;
  };

  /// Takes a convolution and its norm; `input` must be what enters it.
  Taken take_pair(const LayerPair& theirs, const ConvStep& ours, const std::string& input) {
    const KerasLayer& layer = layers_.get(theirs.convolution, "Conv2D");
    expect_plain(layer);
    const auto one = std::pair(1, 1);
    if (layer.config.contains("dilation_rate") && layers_.pair(layer, "dilation_rate") != one) {
      layers_.refuse(layer, "it is dilated");
    }
    if (layer.config.contains("groups") && layers_.number(layer, "groups") != 1) {
      layers_.refuse(layer, "it is in groups");
    }
    const auto kernel = std::pair(ours.kernel, ours.kernel);
    if (layers_.pair(layer, "kernel_size") != kernel) {
      layers_.refuse(layer, fmt::format("it must be a {0}x{0} convolution", ours.kernel));
    }
    const auto [stride, other_stride] = layers_.pair(layer, "strides");
    if (stride != other_stride || stride < 1 || stride > 2) {
      layers_.refuse(layer, fmt::format("its strides are {} and {}", stride, other_stride));
    }
    expect_input(padded_input(layer, ours.kernel, stride), input, layer);
    take(theirs.convolution + "/kernel", ours.name + ".weight", {3, 2, 0, 1});
    if (layers_.flag(layer, "use_bias", true)) {
      take(theirs.convolution + "/bias", ours.name + ".bias");
    }
    take_norm(theirs, ours.norm->name);
    return {theirs.norm, stride};
  }

  void take_norm(const LayerPair& theirs, const std::string& ours) {
    const KerasLayer& layer = layers_.get(theirs.norm, "BatchNormalization");
    expect_input(layers_.input_of(layer).name, theirs.convolution, layer);
    const double epsilon = layers_.number(layer, "epsilon");
    if (!(epsilon >= 0 && epsilon <= 1))
      layers_.refuse(layer, fmt::format("epsilon is {}", epsilon));
    network_.norm_epsilons[ours] = epsilon;
    const std::string like = theirs.norm + "/moving_mean";
    take_or_fill(layer, "scale", theirs.norm + "/gamma", ours + ".weight", like, 1);
    take_or_fill(layer, "center", theirs.norm + "/beta", ours + ".bias", like, 0);
    take(like, ours + ".running_mean");
    take(theirs.norm + "/moving_variance", ours + ".running_var");
  }

  void expect_input(const std::string& found, const std::string& expected,
                    const KerasLayer& layer) const {
    if (found == expected) return;
    layers_.refuse(layer, fmt::format("'{}' enters it, where '{}' is expected", printable(found),
                                      printable(expected)));
  }

  /// Lines before and after, which must be the same for rows and columns.
  std::pair<int, int> padding(const KerasLayer& layer) const {
    const auto found = layer.config.find("padding");
    if (found != layer.config.end() && found->is_array() && found->size() == 2 &&
        (*found)[0] == (*found)[1]) {
      const io::Json& lines = (*found)[0];
      if (const auto both = io::int_of(lines)) return {*both, *both};
      if (lines.is_array() && lines.size() == 2) {
        const auto before = io::int_of(lines[0]), after = io::int_of(lines[1]);
        if (before && after) return {*before, *after};
      }
    }
    layers_.refuse(layer, "its padding is not the same for rows and columns");
  }

  /// What enters a convolution, before the lines of zeros that may be added: windows must reach
  /// equally far to all sides.
  std::string padded_input(const KerasLayer& layer, int kernel, int stride) const {
    const KerasLayer& before = layers_.input_of(layer);
    const std::string mode = layers_.text(layer, "padding", "valid");
    if (before.kind != "ZeroPadding2D") {
      if (kernel > 1 && (mode != "same" || stride > 1)) {
        layers_.refuse(layer,
                       fmt::format("a {0}x{0} convolution with padding '{1}' and a stride of "
                                   "{2} reaches further to one side",
                                   kernel, printable(mode), stride));
      }
      return before.name;
    }
    if (mode != "valid" || padding(before) != std::pair(kernel / 2, kernel / 2)) {
      layers_.refuse(before, fmt::format("a {0}x{0} convolution needs {1} lines on every side",
                                         kernel, kernel / 2));
    }
    return layers_.input_of(before).name;
  }

  std::string relu_after(const std::string& name) const {
    for (const KerasLayer* layer : layers_.after(name)) {
      if (layer->kind == "Activation" && layers_.text(*layer, "activation", "") == "relu") {
        return layer->name;
      }
      if (layer->kind != "ReLU") continue;
      for (const char* changed : {"max_value", "negative_slope", "threshold"}) {
        const auto found = layer->config.find(changed);
        const bool usual = found == layer->config.end() || found->is_null() || *found == 0.0;
        if (!usual)
          layers_.refuse(*layer, fmt::format("it is no plain ReLU: it has '{}'", changed));
      }
      return layer->name;
    }
    fail("{}: is not supported: no ReLU follows layer '{}'", source_.name, printable(name));
  }

  std::string read_stem(const ModelSpec& spec) {
    const ConvStep step = stem_of(spec)->convolution;
    const LayerPair stem = names_.stem();
    const KerasLayer& layer = layers_.get(stem.convolution, "Conv2D");
    const KerasLayer& input =
        layers_.get(padded_input(layer, step.kernel, step.stride), "InputLayer");
    const Taken taken = take_pair(stem, step, input.name);
    if (taken.stride != step.stride) {
      layers_.refuse(layer, fmt::format("its stride must be {}", step.stride));
    }
    network_.size = {InputSpec().size, kKeras};
    for (const char* key : {"batch_input_shape", "batch_shape"}) {
      const auto shape = input.config.find(key);
      if (shape == input.config.end() || !shape->is_array() || shape->size() != 4) continue;
      const io::Json& side = (*shape)[1];
      if (!side.is_number_integer() || side != (*shape)[2]) continue;
      const auto size = io::int_of(side);
      if (!size) layers_.refuse(input, fmt::format("its size is {}", io::dump_json(side)));
      network_.size = {*size, kConfigs};
    }
    return read_pool(relu_after(taken.norm));
  }

  std::string read_pool(const std::string& input) {
    for (const KerasLayer* next : layers_.after(input)) {
      std::optional<std::pair<int, int>> lines;
      if (next->kind == "ZeroPadding2D") {
        lines = padding(*next);
        const auto after = layers_.after(next->name);
        if (after.size() != 1) layers_.refuse(*next, "one layer is expected after it");
        next = after.front();
      }
      if (next->kind != "MaxPooling2D") continue;
      expect_plain(*next);
      if (layers_.pair(*next, "pool_size") != std::pair(3, 3) ||
          layers_.pair(*next, "strides") != std::pair(2, 2)) {
        layers_.refuse(*next, "it must pool over 3x3 with a stride of 2");
      }
      network_.pool = {pool_kind(*next, lines), kConfigs};
      return next->name;
    }
    fail("{}: is not supported: no max pooling follows layer '{}'", source_.name, printable(input));
  }

  /// Zeros and lines that do not count are the same here: what is pooled comes from a ReLU.
  StemPool pool_kind(const KerasLayer& pool,
                     const std::optional<std::pair<int, int>>& lines) const {
    const std::string mode = layers_.text(pool, "padding", "valid");
    if (!lines) {
      if (mode == "same") return StemPool::kSame;
      if (mode == "valid") return StemPool::kValid;
    } else if (mode == "valid") {
      if (*lines == std::pair(0, 0)) return StemPool::kValid;
      if (*lines == std::pair(1, 1)) return StemPool::kSymmetric;
      if (*lines == std::pair(0, 1)) return StemPool::kCeil;
    }
    layers_.refuse(pool, fmt::format("its padding '{}'{} is not known", printable(mode),
                                     lines ? " with lines of zeros before it" : ""));
  }

  /// Returns the name of the layer that is the state after the unit.
  std::string read_unit(const ModelSpec& spec, int block, int number, const std::string& state) {
    const UnitSteps unit = Architecture(spec).blocks[size_t(block)][size_t(number)];
    std::string added = state;
    int shortcut_stride = 1;
    if (unit.shortcut) {
      const Taken taken = take_pair(names_.convolution(block, number, 0), *unit.shortcut, state);
      added = taken.norm;
      shortcut_stride = taken.stride;
    }
    std::string input = state, norm;
    std::vector<int> strides;
    for (int i = 0; i < kBranches; ++i) {
      const Taken taken =
          take_pair(names_.convolution(block, number, i + 1), unit.convolutions[size_t(i)], input);
      norm = taken.norm;
      strides.push_back(taken.stride);
      if (i + 1 < kBranches) input = relu_after(norm);
    }
    read_strides(names_.convolution(block, number, 1).convolution, strides, shortcut_stride,
                 spec.unit_stride(block, number));
    return relu_after(sum_of(norm, added));
  }

  std::string sum_of(const std::string& norm, const std::string& added) const {
    for (const KerasLayer* layer : layers_.after(norm)) {
      if (layer->kind != "Add") continue;
      const std::set<std::string> inputs(layer->inputs.begin(), layer->inputs.end());
      if (inputs == std::set{norm, added}) return layer->name;
    }
    fail("{}: is not supported: no layer adds '{}' and '{}'", source_.name, printable(norm),
         printable(added));
  }

  void read_strides(const std::string& first, const std::vector<int>& strides, int shortcut,
                    int expected) {
    const KerasLayer& layer = *layers_.find(first);
    if (strides[0] * strides[1] != expected || strides[2] != 1 || shortcut != expected) {
      layers_.refuse(layer, fmt::format("the strides of its unit are {}, {} and {}, and {} of the "
                                        "shortcut, but {} is expected of both",
                                        strides[0], strides[1], strides[2], shortcut, expected));
    }
    if (expected == 1) return;
    const StrideOn found = strides[0] == 2 ? StrideOn::k1x1 : StrideOn::k3x3;
    if (!network_.stride_on.from.empty() && network_.stride_on.value != found) {
      layers_.refuse(layer, "blocks have their strides on different convolutions");
    }
    network_.stride_on = {found, kConfigs};
  }

  void read_head(const std::string& state, const std::string& ours) {
    std::string name = state;
    bool pooled = false;
    for (int steps = 0; steps < 8; ++steps) {  // pooling, flattening, dropout
      const auto after = layers_.after(name);
      if (after.size() != 1) break;
      const KerasLayer& layer = *after.front();
      if (layer.kind == "Dense" && pooled) return take_dense(layer, ours);
      if (layer.kind == "GlobalAveragePooling2D" || is_whole_average(layer)) {
        pooled = true;
      } else if (layer.kind != "Flatten" && layer.kind != "Dropout") {
        layers_.refuse(
            layer, fmt::format("a {} is not known before the classifier", printable(layer.kind)));
      }
      name = layer.name;
    }
    fail(
        "{}: has no classifier: no mean over positions and dense layer follow '{}'; networks for "
        "features alone cannot be imported",
        source_.name, printable(name));
  }

  /// Old networks write out the size of the mean: it must be that of the last block.
  bool is_whole_average(const KerasLayer& layer) const {
    if (layer.kind != "AveragePooling2D") return false;
    ModelSpec spec;
    spec.units = names_.units();
    spec.stem_pool = network_.pool.value;
    const int side = network_.size.value;
    validate_image_size({side, side}, source_.name + ": ");
    const Size last = spec.block_size(spec.blocks() - 1, {side, side});
    if (layers_.pair(layer, "pool_size") == std::pair(last.height, last.width)) return true;
    layers_.refuse(
        layer, fmt::format("its mean must be over all {}x{} positions", last.height, last.width));
  }

  void take_dense(const KerasLayer& layer, const std::string& ours) {
    const std::string activation = layers_.text(layer, "activation", "linear");
    if (activation != "softmax" && activation != "linear") {
      layers_.refuse(layer, fmt::format("its activation is '{}', but softmax is expected",
                                        printable(activation)));
    }
    take(layer.name + "/kernel", ours + ".weight", {1, 0});
    if (layers_.flag(layer, "use_bias", true)) return take(layer.name + "/bias", ours + ".bias");
    const auto kernel = source_.tensors.find(layer.name + "/kernel");
    if (kernel == source_.tensors.end()) return;
    const std::vector<float> zeros(size_t(kernel->second.shape[1]));
    network_.tensors[ours + ".bias"] = {
        io::Dtype::kF32,
        {kernel->second.shape[1]},
        memory_->changed.emplace_back(io::stored_as(zeros, io::Dtype::kF32))};
  }

  void assume_usual_input() {
    constexpr double kFull = 255;
    network_.crop = {InputSpec().crop, "usual"};
    network_.bgr = {true, kKeras};
    network_.mean = {{123.68 / kFull, 116.779 / kFull, 103.939 / kFull}, kKeras};
    network_.std = {{1 / kFull, 1 / kFull, 1 / kFull}, kKeras};
    if (network_.stride_on.from.empty()) network_.stride_on = {StrideOn::k1x1, kKeras};
  }

  Source source_;
  KerasLayers layers_;
  KerasNames names_;
  std::shared_ptr<KerasMemory> memory_;
  NamedNetwork network_;
  std::set<std::string, std::less<>> used_;
};

}  // namespace

NamedNetwork name_keras_network(Source source) {
  return KerasReader(std::move(source)).read();
}

}  // namespace sact::importing
