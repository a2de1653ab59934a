// TensorFlow.js layers models: a model.json with the layers and a manifest of weights, whose bytes
// lie in shards beside it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/file_names.h"
#include "base/text.h"
#include "import/source.h"

namespace sact::importing {
namespace {

using io::Json;

constexpr uint64_t kMaxJsonBytes = 64 << 20;

struct StoredType {
  std::string_view name;
  io::Dtype dtype;
};
constexpr StoredType kStoredTypes[] = {{"float32", io::Dtype::kF32}, {"float16", io::Dtype::kF16},
                                       {"int32", io::Dtype::kI32},   {"uint8", io::Dtype::kU8},
                                       {"uint16", io::Dtype::kU16},  {"bool", io::Dtype::kBool}};

/// Reads keys with errors that say where one is missing or of another type.
const Json& required(const Json& object, const char* key, const std::string& where) {
  if (!object.is_object() || !object.contains(key)) fail("{}: has no '{}'", where, key);
  return object[key];
}
const Json& required_array(const Json& object, const char* key, const std::string& where) {
  const Json& value = required(object, key, where);
  if (!value.is_array()) fail("{}: its '{}' is not an array", where, key);
  return value;
}
std::string required_text(const Json& object, const char* key, const std::string& where) {
  const Json& value = required(object, key, where);
  if (!value.is_string()) fail("{}: its '{}' is not a string", where, key);
  return value.get<std::string>();
}

/// A line of the manifest.
struct Entry {
  std::string name;
  io::Shape shape;
  io::Dtype stored = io::Dtype::kF32;
  bool scaled = false;  // value = min + scale * stored
  double scale = 1, min = 0;
  uint64_t bytes = 0;
};

struct TfjsMemory {
  std::deque<std::vector<std::byte>> tensors;
};

class TfjsReader {
 public:
  explicit TfjsReader(const std::filesystem::path& path)
      : path_(path), memory_(std::make_shared<TfjsMemory>()) {
    source_.name = path.string();
    source_.format = "TensorFlow.js layers model";
    source_.files = {path};
    source_.memory = memory_;
  }

  Source read() {
    const auto bytes = read_file(path_, kMaxJsonBytes);
    const Json json =
        io::parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, source_.name);
    source_.layers = layers(json);
    for (const Json& group : required_array(json, "weightsManifest", source_.name)) {
      read_group(group);
    }
    return std::move(source_);
  }

 private:
  Json layers(const Json& json) const {
    if (json.is_object() && json.value("format", Json()) == Json("graph-model")) {
      fail(
          "{}: is a TensorFlow.js graph model, whose layers have no names; convert the Keras model "
          "to a layers model: tensorflowjs_converter --input_format keras",
          source_.name);
    }
    if (!json.is_object() || !json.contains("modelTopology")) {
      fail("{}: is no TensorFlow.js model: it has no 'modelTopology'", source_.name);
    }
    const Json& topology = json["modelTopology"];
    const Json& model = topology.is_object() && topology.contains("model_config")
                            ? topology["model_config"]
                            : topology;
    return required_array(required(model, "config", source_.name + ": its model"), "layers",
                          source_.name + ": its model");
  }

  Entry entry(const Json& json) const {
    Entry entry;
    entry.name = required_text(json, "name", source_.name + ": its manifest");
    const std::string where = fmt::format("{}: weight '{}'", source_.name, printable(entry.name));
    for (const Json& extent : required_array(json, "shape", where)) {
      if (!extent.is_number_integer() || extent.get<int64_t>() < 1) {
        fail("{}: its shape has {}", where, printable(io::dump_json(extent), 40));
      }
      entry.shape.push_back(extent.get<int64_t>());
    }
    std::string type = required_text(json, "dtype", where);
    if (json.contains("quantization")) {
      const Json& quantization = json["quantization"];
      type = required_text(quantization, "dtype", where + ": its quantization");
      entry.scaled = type != "float16";
      if (entry.scaled) {
        entry.scale = finite(quantization, "scale", where);
        entry.min = finite(quantization, "min", where);
      }
    }
    const auto known = std::find_if(std::begin(kStoredTypes), std::end(kStoredTypes),
                                    [&](const StoredType& row) { return row.name == type; });
    if (known == std::end(kStoredTypes)) {
      fail("{}: has the type '{}', which is not known here", where, printable(type));
    }
    entry.stored = known->dtype;
    if (entry.scaled && entry.stored != io::Dtype::kU8 && entry.stored != io::Dtype::kU16) {
      fail("{}: is quantised to '{}', but uint8, uint16 and float16 are known", where, type);
    }
    entry.bytes = io::dtype_size(entry.stored);
    for (const int64_t extent : entry.shape) {
      if (__builtin_mul_overflow(entry.bytes, uint64_t(extent), &entry.bytes)) {
        fail("{}: has the impossible shape {}", where, io::shape_text(entry.shape));
      }
    }
    return entry;
  }

  static double finite(const Json& object, const char* key, const std::string& where) {
    const Json& value = required(object, key, where + ": its quantization");
    if (!value.is_number() || !std::isfinite(value.get<double>())) {
      fail("{}: the '{}' of its quantization is not a number", where, key);
    }
    return value.get<double>();
  }

  /// A shard beside the model.json: nothing else may be named, and none again, so that weights take
  /// no more memory than there are files.
  std::filesystem::path shard_path(const Json& json) {
    const std::string name = json.is_string() ? json.get<std::string>() : "";
    const std::filesystem::path shard = name;
    const bool inside =
        !shard.empty() && stays_below(shard) && printable(name, name.size()) == name;
    if (!inside) {
      fail("{}: its manifest names the shard '{}', which is not a file beside it", source_.name,
           printable(io::dump_json(json), 80));
    }
    if (!shards_.insert(shard.lexically_normal()).second) {
      fail("{}: its manifest names the shard '{}' twice", source_.name, printable(name, 80));
    }
    return path_.parent_path() / shard;
  }

  void read_group(const Json& group) {
    const std::string where = source_.name + ": its manifest";
    std::vector<Entry> entries;
    uint64_t needed = 0;
    for (const Json& json : required_array(group, "weights", where)) {
      entries.push_back(entry(json));
      if (__builtin_add_overflow(needed, entries.back().bytes, &needed)) {
        fail("{}: its weights are impossibly large", where);
      }
    }
    std::deque<WholeFile> shards;
    uint64_t found = 0;
    for (const Json& json : required_array(group, "paths", where)) {
      source_.files.push_back(shard_path(json));
      shards.emplace_back(source_.files.back());
      found += shards.back().bytes().size();
    }
    if (found != needed) {
      fail("{}: its weights take {} bytes, but {} ({}) {} {}{}", source_.name, needed,
           pluralize(int64_t(shards.size()), "shard"), shards.empty() ? "none" : shown(shards),
           shards.size() == 1 ? "has" : "have", found,
           found < needed ? "; a shard is missing or was cut short" : "");
    }
    read_tensors(entries, shards);
  }

  static std::string shown(const std::deque<WholeFile>& shards) {
    const std::string first = shards.front().path().filename().string();
    return shards.size() == 1 ? first : first + ", ...";
  }

  /// The tensors follow each other through the shards, wherever one ends.
  void read_tensors(const std::vector<Entry>& entries, const std::deque<WholeFile>& shards) {
    auto shard = shards.begin();
    size_t position = 0;
    for (const Entry& entry : entries) {
      std::vector<std::byte> bytes(static_cast<size_t>(entry.bytes));
      for (size_t have = 0; have < bytes.size();) {
        if (position == shard->bytes().size()) {
          ++shard;
          position = 0;
          continue;
        }
        const size_t count = std::min(bytes.size() - have, shard->bytes().size() - position);
        std::memcpy(bytes.data() + have, shard->bytes().data() + position, count);
        have += count;
        position += count;
      }
      add(entry, std::move(bytes));
    }
  }

  void add(const Entry& entry, std::vector<std::byte> bytes) {
    io::Dtype dtype = entry.stored;
    if (entry.scaled) {
      bytes = io::stored_as(unscaled(entry, bytes), io::Dtype::kF32);
      dtype = io::Dtype::kF32;
    }
    memory_->tensors.push_back(std::move(bytes));
    const io::TensorView view{dtype, entry.shape, memory_->tensors.back()};
    if (!source_.tensors.emplace(entry.name, view).second) {
      fail("{}: its manifest has '{}' twice", source_.name, printable(entry.name));
    }
  }

  static std::vector<float> unscaled(const Entry& entry, const std::vector<std::byte>& bytes) {
    const size_t width = io::dtype_size(entry.stored);
    std::vector<float> values(bytes.size() / width);
    for (size_t i = 0; i < values.size(); ++i) {
      uint16_t stored = 0;  // little-endian: the low byte comes first
      std::memcpy(&stored, bytes.data() + i * width, width);
      values[i] = float(entry.min + entry.scale * stored);
    }
    return values;
  }

  std::filesystem::path path_;
  std::set<std::filesystem::path> shards_;  // that were named
  std::shared_ptr<TfjsMemory> memory_;
  Source source_;
};

}  // namespace

Source open_tfjs(const std::filesystem::path& path) {
  return TfjsReader(path).read();
}

}  // namespace sact::importing
