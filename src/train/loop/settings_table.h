// Settings as tables: a settings struct lists its members once, in
//   template <typename Settings, typename Visit> void for_each_setting(Settings&, Visit&&)
// with visit(key, value, kind, help), and everything here works on it.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"
#include "io/json.h"
#include "model/spec.h"
#include "train/loop/common_settings.h"

namespace sact::train {

/// Whether a run may be resumed with another value: never, with a larger one, with any.
enum class SettingKind { kDefines, kGrows, kRuns };

template <typename T>
inline constexpr bool kIsList = false;
template <typename T>
inline constexpr bool kIsList<std::vector<T>> = true;

template <typename T>
std::string setting_type_name() {
  if constexpr (std::is_same_v<T, bool>) return "true or false";
  if constexpr (std::is_same_v<T, std::string>) return "text";
  if constexpr (std::is_same_v<T, std::vector<int>>) return "a list of whole numbers";
  if constexpr (std::is_same_v<T, std::vector<double>>) return "a list of numbers";
  if constexpr (std::is_same_v<T, std::vector<std::string>>) return "a list of texts";
  if constexpr (std::is_integral_v<T>) return "a whole number";
  return "a number";
}

template <typename T>
bool setting_fits(const io::Json& json) {
  if constexpr (std::is_same_v<T, bool>) return json.is_boolean();
  if constexpr (std::is_same_v<T, std::string>) return json.is_string();
  if constexpr (kIsList<T>) {
    return json.is_array() && std::all_of(json.begin(), json.end(), [](const io::Json& item) {
             return setting_fits<typename T::value_type>(item);
           });
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
T setting_value(const io::Json& json, const std::string& what) {
  if constexpr (std::is_same_v<T, std::string>) {  // of names that include true and false
    if (json.is_boolean()) return json.get<bool>() ? "true" : "false";
  }
  if (!setting_fits<T>(json)) {
    fail("{} must be {}, found {}", what, setting_type_name<T>(),
         printable(io::dump_json(json), 40));
  }
  return json.get<T>();
}

inline std::vector<std::string> texts_between_commas(const std::string& text) {
  std::vector<std::string> texts;
  for (size_t begin = 0; begin <= text.size() && !text.empty();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    texts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return texts;
}

/// Text from the command line as JSON of the wanted type. A list may also be written as JSON.
template <typename T>
io::Json setting_from_text(const std::string& text) {
  if constexpr (std::is_same_v<T, std::string>) return text;
  if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    if (!text.starts_with('[')) return texts_between_commas(text);
  }
  std::string json = text;
  if constexpr (kIsList<T>) {
    if (!text.starts_with('[')) json = "[" + text + "]";
  }
  try {
    return io::Json::parse(json);
  } catch (const io::Json::exception&) {
    return text;  // of the wrong type, which setting_value() reports
  }
}

template <typename T>
void check_setting_range(const char* key, T value, T low, T high) {
  if (!(value >= low && value <= high)) {
    fail("setting '{}' must be between {} and {}, found {}", key, low, high, value);
  }
}

inline void check_setting_name(const char* key, const std::string& value,
                               std::initializer_list<std::string_view> names) {
  if (std::find(names.begin(), names.end(), value) == names.end()) {
    fail("setting '{}' must be {}, found '{}'", key, one_of(names), printable(value));
  }
}

/// Every key, in the order of declaration.
template <typename Settings>
std::vector<std::string> keys_of_settings() {
  std::vector<std::string> keys;
  const Settings defaults;
  for_each_setting(defaults, [&](const char* key, const auto&, SettingKind, const char*) {
    keys.emplace_back(key);
  });
  return keys;
}

/// Throws: there is no such key. `where` names the file, with ": ", or is empty.
template <typename Settings>
[[noreturn]] void fail_of_unknown_setting(const std::string& where, const std::string& key) {
  fail("{}there is no setting '{}'{}; '{} --settings' lists them", where, printable(key),
       did_you_mean(key, keys_of_settings<Settings>()), Settings::kCommand);
}

template <SettingsStruct Settings>
std::string to_json(const Settings& settings, int indent) {
  io::Json json = io::Json::object();
  for_each_setting(settings, [&](const char* key, const auto& value, SettingKind, const char*) {
    json[key] = value;
  });
  return io::dump_json(json, indent);
}

template <SettingsStruct Settings>
void set_from_json(Settings& settings, std::string_view text, const std::string& name) {
  const io::Json json = io::parse_json(text, name);
  if (!json.is_object()) fail("{}: must be a JSON object with settings", name);
  Settings read = settings;  // all or nothing
  size_t used = 0;
  for_each_setting(read, [&](const char* key, auto& value, SettingKind, const char*) {
    const auto found = json.find(key);
    if (found == json.end()) return;
    ++used;
    value =
        setting_value<std::decay_t<decltype(value)>>(*found, fmt::format("{}: '{}'", name, key));
  });
  const std::vector<std::string> keys = keys_of_settings<Settings>();
  for (const auto& [key, value] : json.items()) {
    if (used == json.size()) break;
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      fail_of_unknown_setting<Settings>(name + ": ", key);
    }
  }
  settings = std::move(read);
}

template <SettingsStruct Settings>
void set_from_text(Settings& settings, const std::string& assignment) {
  const size_t equals = assignment.find('=');
  if (equals == assignment.npos) {
    fail("'{}' is not a setting: write key=value, such as epochs=40", printable(assignment));
  }
  const std::string name = assignment.substr(0, equals), text = assignment.substr(equals + 1);
  bool known = false;
  for_each_setting(settings, [&](const char* key, auto& value, SettingKind, const char*) {
    if (name != key) return;
    known = true;
    using T = std::decay_t<decltype(value)>;
    value = setting_value<T>(setting_from_text<T>(text), fmt::format("setting '{}'", key));
  });
  if (!known) fail_of_unknown_setting<Settings>({}, name);
}

template <SettingsStruct Settings>
std::string settings_help() {
  std::string text = "Settings (key=value), with their defaults:\n";
  const Settings defaults;
  for_each_setting(
      defaults, [&](const char* key, const auto& value, SettingKind, const char* help) {
        const std::string assigned = fmt::format("{}={}", key, io::dump_json(io::Json(value)));
        text += fmt::format("  {:<28}  {}\n", assigned, help);
      });
  return text;
}

template <SettingsStruct Settings>
std::vector<std::string> differences(const Settings& run, const Settings& asked, bool all) {
  const auto before = io::Json::parse(to_json(run, -1));
  const auto after = io::Json::parse(to_json(asked, -1));
  std::vector<std::string> list;
  for_each_setting(run, [&](const char* key, const auto&, SettingKind kind, const char*) {
    const bool allowed =
        kind == SettingKind::kRuns || (kind == SettingKind::kGrows && after[key] > before[key]);
    if ((all || !allowed) && before[key] != after[key]) {
      list.push_back(
          fmt::format("{}: {} -> {}", key, io::dump_json(before[key]), io::dump_json(after[key])));
    }
  });
  return list;
}

}  // namespace sact::train

/// The functions of common_settings.h for one struct, after its for_each_setting().
#define SACT_INSTANTIATE_SETTINGS(Settings)                                     \
  template std::string to_json(const Settings&, int);                           \
  template void set_from_json(Settings&, std::string_view, const std::string&); \
  template void set_from_text(Settings&, const std::string&);                   \
  template std::string settings_help<Settings>();                               \
  template std::vector<std::string> differences(const Settings&, const Settings&, bool)
