// What there is to say of a command, read off its declaration: help, man pages, completions and
// docs/commands.md are all made from this.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace sact::cli {

/// What may follow an option, or stand as an argument.
enum class Value { kNone, kAny, kOneOf, kBeginsWith, kFile, kFolder };

struct OptionDescription {
  std::string short_name, long_name;  // "-o", "--out"; arguments have neither
  std::string value_name;             // "DIR", "cpu|cuda"; empty for a flag
  std::string text;                   // what it means, its range and default
  Value value = Value::kNone;
  std::vector<std::string> words;  // of kOneOf and kBeginsWith
  bool required = false;
  bool many = false;    // an argument that may stand several times
  bool common = false;  // means the same in every command
};

/// A part of the text below the options: either lines as they are, or terms that are explained.
struct Section {
  std::string title;
  std::vector<std::string> lines;
  std::vector<std::pair<std::string, std::string>> terms;
};

struct CommandDescription {
  std::string name;  // "sact saliency eval"
  std::string summary;
  std::string group;  // of commands, in the list of its parent
  std::vector<OptionDescription> arguments, options;
  std::vector<CommandDescription> commands;  // those that are not hidden
  std::vector<Section> sections;

  std::string last_word() const { return name.substr(name.rfind(' ') + 1); }
};

/// The group of options that mean the same in every command.
inline constexpr const char* kCommonOptions = "Common options";

/// The parts of the text below the options: "Title:" lines without indent begin one. Where two
/// spaces part a line it is a term and what it means, but examples stay as they are.
std::vector<Section> sections_of(const std::string& text);

CommandDescription describe(const CLI::App& command);

/// The command and all below it, parents first.
std::vector<const CommandDescription*> all_commands(const CommandDescription& top);

/// "MODEL [IMAGE...]", "[OPTIONS] ..." and so on: how the command is called, after its name.
std::string usage(const CommandDescription& command);

/// "-o, --out DIR"; of an argument, its name.
std::string option_names(const OptionDescription& option);

}  // namespace sact::cli
