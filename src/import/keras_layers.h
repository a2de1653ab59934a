// The layers of a Keras model by name: their configs, and what enters them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/json.h"

namespace sact::importing {

struct KerasLayer {
  std::string name, kind;  // kind: "Conv2D"
  io::Json config;
  std::vector<std::string> inputs;
};

class KerasLayers {
 public:
  /// `file_name` is used in messages.
  KerasLayers(const io::Json& layers, const std::string& file_name);

  const KerasLayer* find(const std::string& name) const;
  /// Throws sact::Error when there is none, or when it is of another kind.
  const KerasLayer& get(const std::string& name, const std::string& kind) const;
  /// The layers that `name` enters.
  std::vector<const KerasLayer*> after(const std::string& name) const;
  /// The layer that enters this one, of which there must be one alone.
  const KerasLayer& input_of(const KerasLayer& layer) const;
  /// A number, pair of numbers or text of a config; throws where it is missing or of another type.
  double number(const KerasLayer& layer, const char* key) const;
  std::pair<int, int> pair(const KerasLayer& layer, const char* key) const;
  std::string text(const KerasLayer& layer, const char* key, const std::string& usual) const;
  bool flag(const KerasLayer& layer, const char* key, bool usual) const;

  [[noreturn]] void refuse(const KerasLayer& layer, const std::string& why) const;

 private:
  void add(const io::Json& json);

  std::string file_name_;
  std::map<std::string, KerasLayer> layers_;
  std::map<std::string, std::vector<std::string>> outputs_;
};

}  // namespace sact::importing
