// Networks as other libraries publish them, written by the tests: safetensors, what torch.save()
// writes, and TensorFlow.js layers models.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "io/json.h"
#include "io/safetensors.h"
#include "model/model_file.h"
#include "support/random_model.h"

namespace sact::test {

using io::Json;

struct NamedValues {
  std::string name;
  io::Shape shape;
  std::vector<float> values;
};
using NamedList = std::vector<NamedValues>;

/// A plain network of a few channels.
inline ModelSpec plain_spec(UnitKind unit, std::vector<int> units = {2, 3}) {
  ModelSpec spec = tiny_spec(Halting::kNone, std::move(units));
  spec.unit = unit;
  return spec;
}

/// The weights under their own names, which are those of torchvision and timm.
inline NamedList torch_state(const ModelSpec& spec, uint64_t seed = 1) {
  NamedList list;
  for (const Weight& weight : random_weights(spec, seed)) {
    list.push_back({weight.info.name, weight.info.shape, weight.values});
  }
  return list;
}

inline NamedValues& named(NamedList& list, const std::string& name) {
  for (NamedValues& tensor : list) {
    if (tensor.name == name) return tensor;
  }
  ADD_FAILURE() << "no tensor " << name;
  return list.front();
}

inline void drop(NamedList& list, const std::string& name) {
  std::erase_if(list, [&](const NamedValues& tensor) { return tensor.name == name; });
}

inline NamedValues filled(const std::string& name, const io::Shape& shape, float value = 0.5f) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return {name, shape, std::vector<float>(size_t(count), value)};
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_tensors(const std::filesystem::path& path, const NamedList& list,
                          io::Dtype dtype = io::Dtype::kF32) {
  std::vector<std::vector<std::byte>> storage;
  for (const NamedValues& tensor : list) storage.push_back(io::stored_as(tensor.values, dtype));
  std::vector<io::NamedTensor> tensors;
  for (size_t i = 0; i < list.size(); ++i) {
    tensors.push_back({list[i].name, {dtype, list[i].shape, storage[i]}});
  }
  io::write_safetensors(path, tensors, {{"format", "pt"}});
}

/// What Python's pickle module writes with protocol 2, for what state dicts are made of.
class Pickler {
 public:
  std::string text = "\x80\x02";

  Pickler& raw(std::string_view code) {
    text += code;
    return *this;
  }
  template <typename T>
  Pickler& number(T value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Pickler& unicode(const std::string& value) {
    return raw("X").number(uint32_t(value.size())).raw(value).remember();
  }
  Pickler& integer(int64_t value) { return raw("J").number(int32_t(value)); }
  Pickler& global(const std::string& module, const std::string& name) {
    return raw("c" + module + "\n" + name + "\n").remember();
  }
  Pickler& tuple(const std::vector<int64_t>& values) {
    raw("(");
    for (const int64_t value : values) integer(value);
    return raw("t").remember();
  }
  Pickler& ordered_dict() { return global("collections", "OrderedDict").raw(")R").remember(); }
  Pickler& remember() { return raw("r").number(next_++); }

  /// A tensor in a storage of its own record.
  Pickler& tensor(const std::string& storage, const std::string& key, int64_t elements,
                  const io::Shape& shape, const std::vector<int64_t>& strides, int64_t offset = 0) {
    global("torch._utils", "_rebuild_tensor_v2").raw("((").unicode("storage");
    global("torch", storage).unicode(key).unicode("cpu").integer(elements).raw("tQ");
    integer(offset).tuple(shape).tuple(strides).raw("\x89").ordered_dict();
    return raw("tR").remember();
  }

 private:
  uint32_t next_ = 0;
};

inline std::vector<int64_t> row_strides(const io::Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// A ZIP archive of stored records; nobody reads its checksums.
inline std::string zip(const std::vector<std::pair<std::string, std::string>>& records,
                       uint16_t method = 0) {
  std::string archive, table;
  const auto put = [](std::string& to, auto value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const auto head = [&](std::string& to, uint16_t method, size_t size, size_t name) {
    put(to, uint16_t(0));  // flags
    put(to, method);
    put(to, uint32_t(0));  // time
    put(to, uint32_t(0));  // checksum
    put(to, uint32_t(size));
    put(to, uint32_t(size));
    put(to, uint16_t(name));
  };
  for (const auto& [name, bytes] : records) {
    const auto offset = uint32_t(archive.size());
    put(archive, uint32_t(0x04034b50));
    put(archive, uint16_t(0));
    head(archive, method, bytes.size(), name.size());
    put(archive, uint16_t(4));  // padding, as torch.save() writes it
    archive += name + std::string("FB\0\0", 4) + bytes;
    put(table, uint32_t(0x02014b50));
    put(table, uint32_t(0));
    head(table, method, bytes.size(), name.size());
    put(table, uint16_t(0));
    put(table, uint16_t(0));
    put(table, uint16_t(0));
    put(table, uint16_t(0));
    put(table, uint32_t(0));
    put(table, offset);
    table += name;
  }
  const auto begin = uint32_t(archive.size());
  archive += table;
  put(archive, uint32_t(0x06054b50));
  put(archive, uint32_t(0));
  put(archive, uint16_t(records.size()));
  put(archive, uint16_t(records.size()));
  put(archive, uint32_t(table.size()));
  put(archive, begin);
  put(archive, uint16_t(0));
  return archive;
}

/// A checkpoint: how its state dict is reached and what lies beside it.
struct TorchFile {
  NamedList state;
  std::string wrapper = {};    // "state_dict": the key of the state dict
  bool channels_last = false;  // convolutions in memory as [O, H, W, I]
  bool parameters = false;     // tensors inside of torch.nn.Parameter

  std::string pickle(std::vector<std::pair<std::string, std::string>>& records) const {
    Pickler pickler;
    if (!wrapper.empty()) {
      pickler.raw("}").remember().raw("(").unicode("epoch").integer(90);
      pickler.unicode(wrapper);
    }
    pickler.ordered_dict().raw("(");
    for (size_t i = 0; i < state.size(); ++i) {
      const NamedValues& tensor = state[i];
      pickler.unicode(tensor.name);
      std::vector<float> values = tensor.values;
      std::vector<int64_t> strides = row_strides(tensor.shape);
      if (channels_last && tensor.shape.size() == 4) to_channels_last(tensor, values, strides);
      if (parameters) pickler.global("torch._utils", "_rebuild_parameter").raw("(");
      pickler.tensor("FloatStorage", std::to_string(i), int64_t(values.size()), tensor.shape,
                     strides);
      if (parameters) pickler.raw("\x88").ordered_dict().raw("tR");
      records.emplace_back(
          "archive/data/" + std::to_string(i),
          std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
    }
    pickler.unicode("bn1.num_batches_tracked").tensor("LongStorage", "n", 1, {}, {});
    records.emplace_back("archive/data/n", std::string(8, '\0'));
    pickler.raw("u");
    // The attribute that every state dict has: the versions of its modules.
    pickler.raw("}").unicode("_metadata").ordered_dict().raw("sb");
    if (!wrapper.empty()) {
      pickler.unicode("optimizer").raw("}").unicode("lr").raw("G").number(uint64_t(0)).raw("s");
      pickler.unicode("args").global("argparse", "Namespace").raw(")\x81}").unicode("arch");
      pickler.unicode("resnet50").raw("sbu");
    }
    return pickler.raw(".").text;
  }

  std::string bytes() const {
    std::vector<std::pair<std::string, std::string>> records;
    const std::string table = pickle(records);
    records.insert(records.begin(), {"archive/data.pkl", table});
    records.emplace_back("archive/version", "3\n");
    return zip(records);
  }

 private:
  static void to_channels_last(const NamedValues& tensor, std::vector<float>& values,
                               std::vector<int64_t>& strides) {
    const auto& s = tensor.shape;
    strides = {s[1] * s[2] * s[3], 1, s[3] * s[1], s[1]};
    size_t from = 0;
    for (int64_t o = 0; o < s[0]; ++o) {
      for (int64_t i = 0; i < s[1]; ++i) {
        for (int64_t y = 0; y < s[2]; ++y) {
          for (int64_t x = 0; x < s[3]; ++x) {
            values[size_t(o * strides[0] + i + y * strides[2] + x * strides[3])] =
                tensor.values[from++];
          }
        }
      }
    }
  }
};

/// A Keras ResNet with the weights of one of ours, as a TensorFlow.js layers model. Tests change
/// its layers and tensors before it is written.
class KerasModel {
 public:
  struct Options {
    bool old_names = true;
    bool biases = true;
    bool softmax = true;
    std::function<double(const std::string& norm)> epsilon = [](const std::string&) {
      return 1e-3;
    };
  };

  KerasModel(const ModelSpec& spec, uint64_t seed, Options options)
      : spec_(spec), options_(std::move(options)), random_(seed + 7) {
    for (const Weight& weight : random_weights(spec, seed)) weights_[weight.info.name] = weight;
    std::string state = stem();
    for (int block = 0; block < spec.blocks(); ++block) {
      for (int unit = 0; unit < spec.units[size_t(block)]; ++unit) {
        state = residual(block, unit, state);
      }
    }
    layer("GlobalAveragePooling2D", "avg_pool", Json::object(), {state});
    const std::string head = options_.old_names ? "fc1000" : "predictions";
    layer("Dense", head,
          {{"units", spec.classes},
           {"use_bias", true},
           {"activation", options_.softmax ? "softmax" : "linear"}},
          {"avg_pool"});
    const Weight& linear = weights_.at("fc.weight");
    NamedValues kernel{
        head + "/kernel", {linear.info.shape[1], linear.info.shape[0]}, linear.values};
    for (int64_t i = 0; i < kernel.shape[0]; ++i) {
      for (int64_t o = 0; o < kernel.shape[1]; ++o) {
        kernel.values[size_t(i * kernel.shape[1] + o)] =
            linear.values[size_t(o * kernel.shape[0] + i)];
      }
    }
    tensors.push_back(kernel);
    tensors.push_back({head + "/bias", {kernel.shape[1]}, weights_.at("fc.bias").values});
  }
  KerasModel(const ModelSpec& spec, uint64_t seed) : KerasModel(spec, seed, Options()) {}

  Json layers = Json::array();
  NamedList tensors;

  Json& config(const std::string& name) { return found(name)["config"]; }
  Json& found(const std::string& name) {
    for (Json& layer : layers) {
      if (layer["name"] == name) return layer;
    }
    ADD_FAILURE() << "no layer " << name;
    return layers[0];
  }

  /// model.json and shards of at most that size; stored as float32, float16, uint8 or uint16.
  void write(const std::filesystem::path& directory, const std::string& type = "float32",
             size_t shard_bytes = 4096) const {
    std::string bytes;
    Json weights = Json::array();
    for (const NamedValues& tensor : tensors) weights.push_back(stored(tensor, type, bytes));
    Json paths = Json::array();
    for (size_t begin = 0; begin < bytes.size(); begin += shard_bytes) {
      const std::string name = "group1-shard" + std::to_string(paths.size() + 1) + ".bin";
      write_bytes(directory / name, bytes.substr(begin, shard_bytes));
      paths.push_back(name);
    }
    const Json model = {
        {"format", "layers-model"},
        {"modelTopology",
         {{"keras_version", "2.2.4"},
          {"model_config", {{"class_name", "Model"}, {"config", {{"layers", layers}}}}}}},
        {"weightsManifest", {{{"paths", paths}, {"weights", weights}}}}};
    write_bytes(directory / "model.json", model.dump());
  }

 private:
  static Json stored(const NamedValues& tensor, const std::string& type, std::string& bytes) {
    Json entry = {{"name", tensor.name}, {"shape", tensor.shape}, {"dtype", "float32"}};
    const auto append = [&](const void* data, size_t size) {
      bytes.append(static_cast<const char*>(data), size);
    };
    if (type == "float32" || type == "float16") {
      const auto dtype = type == "float16" ? io::Dtype::kF16 : io::Dtype::kF32;
      const auto packed = io::stored_as(tensor.values, dtype);
      append(packed.data(), packed.size());
      if (type == "float16")
        entry["quantization"] = {{"dtype", type}, {"original_dtype", "float32"}};
      return entry;
    }
    const auto [low, high] = std::minmax_element(tensor.values.begin(), tensor.values.end());
    const double steps = type == "uint8" ? 255 : 65535;
    const double scale = *high > *low ? (double(*high) - *low) / steps : 1, min = *low;
    entry["quantization"] = {{"dtype", type}, {"scale", scale}, {"min", min}};
    for (const float value : tensor.values) {
      const auto level = uint16_t(std::lround((value - min) / scale));
      append(&level, type == "uint8" ? 1 : 2);
    }
    return entry;
  }

  void layer(const std::string& kind, const std::string& name, Json config,
             const std::vector<std::string>& inputs) {
    config["name"] = name;
    Json nodes = Json::array();
    for (const std::string& input : inputs) nodes.push_back({input, 0, 0, Json::object()});
    layers.push_back({{"name", name},
                      {"class_name", kind},
                      {"config", config},
                      {"inbound_nodes", inputs.empty() ? Json::array() : Json::array({nodes})}});
  }

  std::string relu(const std::string& input) {
    const std::string name = "activation_" + std::to_string(++activations_);
    layer("Activation", name, {{"activation", "relu"}}, {input});
    return name;
  }

  /// [O, I, H, W] -> [H, W, I, O]; the first takes blue, green and red.
  NamedValues kernel(const std::string& name, const Weight& weight, bool bgr) {
    const auto& s = weight.info.shape;
    NamedValues kernel{name, {s[2], s[3], s[1], s[0]}, weight.values};
    size_t to = 0;
    for (int64_t y = 0; y < s[2]; ++y) {
      for (int64_t x = 0; x < s[3]; ++x) {
        for (int64_t i = 0; i < s[1]; ++i) {
          for (int64_t o = 0; o < s[0]; ++o) {
            const int64_t from = bgr ? s[1] - 1 - i : i;
            kernel.values[to++] = weight.values[size_t(((o * s[1] + from) * s[2] + y) * s[3] + x)];
          }
        }
      }
    }
    return kernel;
  }

  /// Returns the norm.
  std::string pair(const std::string& ours, const std::string& our_norm, const std::string& theirs,
                   const std::string& their_norm, const std::string& input, int stride,
                   const std::string& padding) {
    const Weight& weight = weights_.at(ours + ".weight");
    const int64_t size = weight.info.shape[2], out = weight.info.shape[0];
    layer("Conv2D", theirs,
          {{"filters", out},
           {"kernel_size", {size, size}},
           {"strides", {stride, stride}},
           {"padding", padding},
           {"data_format", "channels_last"},
           {"dilation_rate", {1, 1}},
           {"activation", "linear"},
           {"use_bias", options_.biases}},
          {input});
    layer("BatchNormalization", their_norm,
          {{"axis", {3}},
           {"epsilon", options_.epsilon(their_norm)},
           {"center", true},
           {"scale", true}},
          {theirs});
    tensors.push_back(kernel(theirs + "/kernel", weight, ours == "conv1"));
    std::vector<float> mean = weights_.at(our_norm + ".running_mean").values;
    if (options_.biases) {
      NamedValues bias{theirs + "/bias", {out}, std::vector<float>(size_t(out))};
      for (size_t i = 0; i < mean.size(); ++i) {
        bias.values[i] = float(random_.uniform(-0.5, 0.5));
        mean[i] += bias.values[i];
      }
      tensors.push_back(bias);
    }
    tensors.push_back({their_norm + "/gamma", {out}, weights_.at(our_norm + ".weight").values});
    tensors.push_back({their_norm + "/beta", {out}, weights_.at(our_norm + ".bias").values});
    tensors.push_back({their_norm + "/moving_mean", {out}, mean});
    tensors.push_back(
        {their_norm + "/moving_variance", {out}, weights_.at(our_norm + ".running_var").values});
    return their_norm;
  }

  std::string stem() {
    const bool old = options_.old_names;
    layer("InputLayer", "input_1", {{"batch_input_shape", {nullptr, 64, 64, 3}}}, {});
    layer("ZeroPadding2D", "conv1_pad", {{"padding", {{3, 3}, {3, 3}}}}, {"input_1"});
    const std::string norm = pair("conv1", "bn1", old ? "conv1" : "conv1_conv",
                                  old ? "bn_conv1" : "conv1_bn", "conv1_pad", 2, "valid");
    layer("ZeroPadding2D", "pool1_pad", {{"padding", {{1, 1}, {1, 1}}}}, {relu(norm)});
    layer("MaxPooling2D", "pool1",
          {{"pool_size", {3, 3}}, {"strides", {2, 2}}, {"padding", "valid"}}, {"pool1_pad"});
    return "pool1";
  }

  std::pair<std::string, std::string> names(int block, int unit, int number) const {
    if (!options_.old_names) {
      const std::string name = "conv" + std::to_string(block + 2) + "_block" +
                               std::to_string(unit + 1) + "_" + std::to_string(number);
      return {name + "_conv", name + "_bn"};
    }
    const std::string place = std::to_string(block + 2) + char('a' + unit) + "_branch" +
                              (number == 0 ? "1" : std::string("2") + char('a' + number - 1));
    return {"res" + place, "bn" + place};
  }

  std::string residual(int block, int unit, const std::string& state) {
    const std::string prefix =
        "layer" + std::to_string(block + 1) + "." + std::to_string(unit) + ".";
    const int stride = block > 0 && unit == 0 ? 2 : 1;
    std::string added = state;
    if (unit == 0) {
      const auto [convolution, norm] = names(block, unit, 0);
      added = pair(prefix + "downsample.0", prefix + "downsample.1", convolution, norm, state,
                   stride, "valid");
    }
    std::string input = state;
    for (int number = 1; number <= 3; ++number) {
      const auto [convolution, norm] = names(block, unit, number);
      const std::string our = std::to_string(number);
      input = pair(prefix + "conv" + our, prefix + "bn" + our, convolution, norm, input,
                   number == 1 ? stride : 1, number == 2 ? "same" : "valid");
      if (number < 3) input = relu(input);
    }
    const std::string sum = "add_" + std::to_string(++sums_);
    layer("Add", sum, Json::object(), {input, added});
    return relu(sum);
  }

  ModelSpec spec_;
  Options options_;
  Random random_;
  std::map<std::string, Weight> weights_;
  int activations_ = 0, sums_ = 0;
};

}  // namespace sact::test
