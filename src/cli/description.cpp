#include "cli/description.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "cli/command.h"

namespace sact::cli {
namespace {

/// CLI11 writes "TYPE:CHECK:CHECK"; these are the type and the checks.
std::vector<std::string> type_and_checks(const CLI::Option& option) {
  std::vector<std::string> parts;
  std::istringstream text(option.get_type_name());
  for (std::string part; std::getline(text, part, ':');) parts.push_back(part);
  if (parts.empty()) parts.emplace_back();
  return parts;
}

/// The words of "{a,b,c}" after a prefix, or nothing.
std::vector<std::string> words_of(const std::string& check, const std::string& prefix) {
  if (!check.starts_with(prefix + "{") || !check.ends_with("}")) return {};
  return CLI::detail::split(check.substr(prefix.size() + 1, check.size() - prefix.size() - 2), ',');
}

/// "1 to 1024" or "at least 0" from CLI11's "INT in [1 - 1024]", or nothing.
std::string range_of(const std::string& check) {
  constexpr double kNoLimit = 1e9;
  const size_t open = check.find(" in ["), middle = check.find(" - ");
  if (open == check.npos || middle == check.npos || !check.ends_with("]")) return {};
  const std::string low = check.substr(open + 5, middle - open - 5);
  const std::string high = check.substr(middle + 3, check.size() - middle - 4);
  return std::stod(high) < kNoLimit ? low + " to " + high : "at least " + low;
}

std::string plain_type(const std::string& type) {
  if (type == "INT" || type == "UINT") return "N";
  return type == "FLOAT" ? "X" : type;
}

Value value_of(const std::string& type) {
  const std::string last = type.substr(type.find('=') + 1);  // of NAME=FILE
  if (last == "DIR") return Value::kFolder;
  for (const char* file :
       {"FILE", "MODEL", "ADAPTIVE", "PLAIN", "SOURCE", "IMAGE", "DATA", "PATH"}) {
    if (last == file) return Value::kFile;
  }
  return Value::kAny;
}

std::string names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string default_of(const CLI::Option& option) {
  std::string text = option.get_default_str();
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  return text;
}

/// What it means, with range, default and so on in brackets at the end. A default that the meaning
/// ends with, "(default: all)", goes in there.
std::string text_of(const CLI::Option& option, const std::vector<std::string>& checks) {
  std::vector<std::string> parts;
  std::string text = option.get_description(), told;
  const size_t bracket = text.rfind(" (default: ");
  if (bracket != text.npos && text.ends_with(')')) {
    told = text.substr(bracket + 2, text.size() - bracket - 3);
    text.resize(bracket);
  }
  if (option.get_required() && option.nonpositional()) parts.emplace_back("required");
  for (const std::string& check : checks) {
    if (const std::string range = range_of(check); !range.empty()) parts.push_back(range);
  }
  if (const std::string usual = default_of(option); !usual.empty()) {
    parts.push_back("default: " + usual);
  } else if (!told.empty()) {
    parts.push_back(told);
  }
  if (!option.get_needs().empty()) parts.push_back("needs " + names_of(option.get_needs()));
  if (!option.get_excludes().empty()) {
    parts.push_back("not with " + names_of(option.get_excludes()));
  }
  return parts.empty() ? text : fmt::format("{} ({})", text, fmt::join(parts, "; "));
}

OptionDescription describe_option(const CLI::Option& option) {
  OptionDescription description;
  if (option.nonpositional()) {
    if (!option.get_snames().empty()) description.short_name = "-" + option.get_snames().front();
    if (!option.get_lnames().empty()) description.long_name = "--" + option.get_lnames().front();
  }
  description.required = option.get_required();
  description.many = option.get_expected_max() > 1 && !option.nonpositional();
  description.common = option.get_group() == kCommonOptions;
  std::vector<std::string> checks = type_and_checks(option);
  if (option.get_type_size() != 0) {  // not a flag
    description.value = value_of(checks.front());
    description.value_name = plain_type(checks.front());
    for (const std::string& check : checks) {
      if (const auto words = words_of(check, ""); !words.empty()) {
        description.value = Value::kOneOf;
        description.words = words;
        description.value_name = fmt::format("{}", fmt::join(words, "|"));
      } else if (const auto starts = words_of(check, kBeginsWith); !starts.empty()) {
        description.value = Value::kBeginsWith;
        description.words = starts;
      }
    }
    const bool list = option.get_delimiter() == ',' && option.get_expected_max() > 3;
    if (list) description.value_name += ",...";
    if (!option.get_option_text().empty()) description.value_name = option.get_option_text();
  }
  description.text = text_of(option, checks);
  return description;
}

CommandDescription describe(const CLI::App& command, const std::string& parent) {
  CommandDescription description;
  description.name = parent + command.get_name();
  description.summary = command.get_description();
  description.group = command.get_group() == "Subcommands" ? "Commands" : command.get_group();
  description.sections = sections_of(command.get_footer());
  std::vector<OptionDescription> common;
  for (const CLI::Option* option : command.get_options()) {
    OptionDescription text = describe_option(*option);
    const bool asks = option == command.get_help_ptr() || option == command.get_version_ptr();
    text.common = text.common || asks;
    auto& list = !option->nonpositional() ? description.arguments
                 : text.common            ? common
                                          : description.options;
    list.push_back(std::move(text));
  }
  // Help and version were declared first, but are what one looks for last.
  const auto named = [](const char* name) {
    return [name](const OptionDescription& option) { return option.long_name != name; };
  };
  for (const char* last : {"--version", "--help"}) {
    std::stable_partition(common.begin(), common.end(), named(last));
  }
  description.options.insert(description.options.end(), common.begin(), common.end());
  for (const CLI::App* below : command.get_subcommands({})) {
    if (below->get_group().empty()) continue;
    description.commands.push_back(describe(*below, description.name + " "));
  }
  return description;
}

void collect(const CommandDescription& command, std::vector<const CommandDescription*>& all) {
  all.push_back(&command);
  for (const CommandDescription& below : command.commands) collect(below, all);
}

}  // namespace

std::vector<Section> sections_of(const std::string& all) {
  std::vector<Section> sections;
  std::istringstream text(all);
  for (std::string line; std::getline(text, line);) {
    if (line.empty()) continue;
    const bool indented = line.starts_with("  ");
    if (!indented && line.ends_with(":")) {
      sections.push_back({line.substr(0, line.size() - 1), {}, {}});
      continue;
    }
    if (sections.empty() || !indented) sections.push_back({});
    Section& section = sections.back();
    const size_t gap = line.find("  ", 2);
    if (!indented || gap == line.npos || section.title == kExamples) {
      section.lines.push_back(line);
    } else {
      section.terms.emplace_back(line.substr(2, gap - 2),
                                 line.substr(line.find_first_not_of(' ', gap)));
    }
  }
  return sections;
}

CommandDescription describe(const CLI::App& command) {
  std::string parents;
  for (const CLI::App* app = command.get_parent(); app; app = app->get_parent()) {
    parents = app->get_name() + " " + parents;
  }
  return describe(command, parents);
}

std::vector<const CommandDescription*> all_commands(const CommandDescription& top) {
  std::vector<const CommandDescription*> all;
  collect(top, all);
  return all;
}

std::string usage(const CommandDescription& command) {
  std::string text = command.commands.empty() ? "[OPTIONS]" : "COMMAND [OPTIONS]";
  for (const OptionDescription& argument : command.arguments) {
    const std::string name = argument.value_name + (argument.many ? "..." : "");
    text += argument.required ? " " + name : " [" + name + "]";
  }
  return text;
}

std::string option_names(const OptionDescription& option) {
  std::string text = option.short_name;
  if (!option.long_name.empty()) text += (text.empty() ? "" : ", ") + option.long_name;
  if (!option.value_name.empty()) text += (text.empty() ? "" : " ") + option.value_name;
  return text;
}

}  // namespace sact::cli
