// The settings of a run, whatever is trained, as the loop sees them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "train/loop/common_settings.h"

namespace sact::train {

class RunSettings {
 public:
  virtual ~RunSettings() = default;

  /// "sact train": what makes runs with such settings.
  virtual const char* command() const = 0;
  /// All of them.
  virtual std::string json() const = 0;
  /// Replaces all of them; what is not in the JSON gets its default. `name` is used in messages.
  virtual void replace(const std::string& json, const std::string& name) = 0;
  /// Sets those in the JSON.
  virtual void set_json(const std::string& json, const std::string& name) = 0;
  /// Sets one, such as "epochs=40".
  virtual void set_text(const std::string& assignment) = 0;
  /// Throws sact::Error when a value makes no sense.
  virtual void check() const = 0;
  /// "rate: 0.1 -> 0.2" for each that differs from what is stored as JSON, without those that may
  /// change when a run goes on unless `all` are wanted.
  virtual std::vector<std::string> changes_since(const std::string& stored, const std::string& name,
                                                 bool all = false) const = 0;
};

template <SettingsStruct Settings>
class SettingsOf : public RunSettings {
 public:
  Settings value;

  const char* command() const override { return Settings::kCommand; }
  std::string json() const override { return to_json(value); }
  void replace(const std::string& json, const std::string& name) override {
    value = read(json, name);
  }
  void set_json(const std::string& json, const std::string& name) override {
    set_from_json(value, json, name);
  }
  void set_text(const std::string& assignment) override { set_from_text(value, assignment); }
  void check() const override { validate(value); }
  std::vector<std::string> changes_since(const std::string& stored, const std::string& name,
                                         bool all) const override {
    return differences(read(stored, name), value, all);
  }

 private:
  static Settings read(const std::string& json, const std::string& name) {
    Settings settings;
    set_from_json(settings, json, name);
    return settings;
  }
};

}  // namespace sact::train
