#include "import/labels.h"

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/class_names.h"
#include "data/fields.h"
#include "data/imagenet_classes.h"
#include "io/json.h"

namespace sact::importing {
namespace {

using io::Json;
using Labels = std::vector<std::string>;

constexpr uint64_t kMaxBytes = 64 << 20;

/// A name, or the last of a list: [WordNet id, name].
std::string name_of_class(const Json& json, const std::string& which, const std::string& file) {
  const Json& name = json.is_array() && !json.empty() ? json.back() : json;
  if (!name.is_string() || data::trimmed(name.get<std::string>()).empty()) {
    fail("{}: {} has no name but {}", file, which, printable(io::dump_json(json), 60));
  }
  return std::string(data::trimmed(name.get<std::string>()));
}

Labels from_array(const Json& json, const std::string& file) {
  Labels labels;
  for (const Json& name : json) {
    labels.push_back(name_of_class(name, fmt::format("class {}", labels.size()), file));
  }
  return labels;
}

Labels from_object(const Json& json, const std::string& file) {
  Labels labels(json.size());
  for (const auto& [key, name] : json.items()) {
    const auto number = data::parse_integer(key);
    if (!number || *number < 0 || *number >= int64_t(labels.size())) {
      fail("{}: has the class '{}', but its {} must be numbered from 0", file, printable(key, 40),
           pluralize(int64_t(labels.size()), "class", "classes"));
    }
    std::string& label = labels[size_t(*number)];
    if (!label.empty()) fail("{}: names class {} twice", file, *number);
    label = name_of_class(name, "class " + key, file);
  }
  return labels;
}

Labels read_any(const std::filesystem::path& path) {
  const auto bytes = read_file(path, kMaxBytes);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos || (text[first] != '[' && text[first] != '{')) {
    return data::read_class_names(path);
  }
  const Json json = io::parse_json(text, path.string());
  return json.is_array() ? from_array(json, path.string()) : from_object(json, path.string());
}

}  // namespace

Labels read_labels(const std::filesystem::path& file, int classes) {
  Labels labels = read_any(file);
  if (int(labels.size()) != classes) {
    fail("{}: has {}, but the network has {}", file.string(),
         pluralize(int64_t(labels.size()), "name"), pluralize(classes, "class", "classes"));
  }
  return labels;
}

Labels imagenet_labels() {
  Labels labels;
  for (const data::ImageNetClass& row : data::imagenet_classes()) {
    labels.emplace_back(row.names.substr(0, row.names.find(',')));
  }
  return labels;
}

}  // namespace sact::importing
