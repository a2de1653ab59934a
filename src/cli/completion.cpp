#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sact::cli {
namespace {

/// "saliency eval" of "sact saliency eval"; nothing of the program itself.
std::string words_after_program(const CommandDescription& command) {
  const size_t space = command.name.find(' ');
  return space == command.name.npos ? std::string() : command.name.substr(space + 1);
}

std::string names_of(const std::vector<CommandDescription>& commands) {
  std::vector<std::string> names;
  for (const CommandDescription& command : commands) names.push_back(command.last_word());
  return fmt::format("{}", fmt::join(names, " "));
}

std::vector<std::string> names_of(const OptionDescription& option) {
  std::vector<std::string> names;
  for (const std::string& name : {option.short_name, option.long_name}) {
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

/// What the argument of `sact help` may be: the name of a command.
bool names_commands(const OptionDescription& argument) {
  return argument.value_name == "COMMAND";
}

// ---- bash

/// The call that offers what may stand there.
std::string bash_offer(const OptionDescription& option) {
  const std::string words = fmt::format("{}", fmt::join(option.words, " "));
  switch (option.value) {
    case Value::kNone:
    case Value::kAny:
      return ":";
    case Value::kOneOf:
      return "_sact_words '" + words + "'";
    case Value::kBeginsWith:
      return "_sact_words '" + words + "' nospace";
    case Value::kFile:
      return "_sact_files -f";
    case Value::kFolder:
      return "_sact_files -d";
  }
  return ":";
}

/// The case of every option that takes a value: "predict --out" offers folders.
std::string bash_values(const CommandDescription& command) {
  std::string text;
  for (const OptionDescription& option : command.options) {
    if (option.value == Value::kNone) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : names_of(option)) {
      patterns.push_back(fmt::format("'{} {}'", words_after_program(command), name));
    }
    text += fmt::format("    {})\n      {}\n      return\n      ;;\n", fmt::join(patterns, " | "),
                        bash_offer(option));
  }
  return text;
}

std::string bash_arguments(const CommandDescription& command, const CommandDescription& program) {
  std::vector<std::string> offers;
  for (const OptionDescription& argument : command.arguments) {
    const std::string offer = names_commands(argument)
                                  ? "_sact_words '" + names_of(program.commands) + "'"
                                  : bash_offer(argument);
    if (std::find(offers.begin(), offers.end(), offer) == offers.end()) offers.push_back(offer);
  }
  if (!command.commands.empty()) {
    offers.push_back("_sact_words '" + names_of(command.commands) + "'");
  }
  return offers.empty() ? ":" : fmt::format("{}", fmt::join(offers, "\n      "));
}

std::string bash_command(const CommandDescription& command, const CommandDescription& program) {
  std::vector<std::string> options;
  for (const OptionDescription& option : command.options) {
    for (const std::string& name : names_of(option)) options.push_back(name);
  }
  return fmt::format(
      "    '{}')\n"
      "      if [[ $current == -* ]]; then\n"
      "        _sact_words '{}'\n"
      "        return\n"
      "      fi\n"
      "      {}\n"
      "      ;;\n",
      words_after_program(command), fmt::join(options, " "), bash_arguments(command, program));
}

constexpr const char* kBashHead = R"(# Completion of sact in bash; made by 'sact generate-docs'.

_sact_words() {
  mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W "$1" -- "$current")
  [[ ${2-} != nospace ]] || compopt -o nospace 2>/dev/null
}

_sact_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen "$1" -- "$current")
}

_sact() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' i
  COMPREPLY=()
  # NAME=VALUE comes in three words.
  if [[ $current == '=' ]]; then
    current=''
    previous=''
  elif [[ $previous == '=' ]]; then
    previous=''
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command ${COMP_WORDS[i]}" in
)";

// ---- zsh

/// Text inside single quotes of a spec of _arguments.
std::string zsh_escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
      result += c;
    }
  }
  return result;
}

std::string zsh_action(const OptionDescription& option) {
  switch (option.value) {
    case Value::kNone:
    case Value::kAny:
      return " ";
    case Value::kOneOf:
      return fmt::format("({})", fmt::join(option.words, " "));
    case Value::kBeginsWith: {
      std::vector<std::string> words;
      for (const std::string& word : option.words) words.push_back(zsh_escaped(word));
      return fmt::format("{{compadd -S \"\" -- {}}}", fmt::join(words, " "));
    }
    case Value::kFile:
      return "_files";
    case Value::kFolder:
      return "_files -/";
  }
  return " ";
}

std::string zsh_option(const OptionDescription& option) {
  const std::vector<std::string> names = names_of(option);
  std::string spec;
  if (names.size() > 1) {
    spec = fmt::format("'({})'{{{}}}'", fmt::join(names, " "), fmt::join(names, ","));
  } else {
    spec = "'" + names.front();
  }
  spec += "[" + zsh_escaped(option.text) + "]";
  if (option.value != Value::kNone) {
    spec += ":" + zsh_escaped(option.value_name) + ":" + zsh_action(option);
  }
  return spec + "'";
}

std::string zsh_argument(const OptionDescription& argument, const CommandDescription& program) {
  const std::string action =
      names_commands(argument) ? "(" + names_of(program.commands) + ")" : zsh_action(argument);
  return fmt::format("'{}{}:{}'",
                     argument.many       ? "*:"
                     : argument.required ? ":"
                                         : "::",
                     zsh_escaped(argument.value_name), action);
}

std::string zsh_function_name(const CommandDescription& command) {
  std::string name = "_" + command.name;
  for (char& c : name) c = c == ' ' || c == '-' ? '_' : c;
  return name;
}

/// A function that completes one command; its commands are functions of their own.
std::string zsh_function(const CommandDescription& command, const CommandDescription& program) {
  std::vector<std::string> specs;
  for (const OptionDescription& option : command.options) specs.push_back(zsh_option(option));
  for (const OptionDescription& argument : command.arguments) {
    specs.push_back(zsh_argument(argument, program));
  }
  std::string text = zsh_function_name(command) + "() {\n";
  if (command.commands.empty()) {
    return text + fmt::format("  _arguments -s \\\n    {}\n}}\n\n", fmt::join(specs, " \\\n    "));
  }
  specs.emplace_back("'1:command:->command'");
  specs.emplace_back("'*::argument:->argument'");
  text += "  local line state\n  local -a commands\n";
  text += fmt::format("  _arguments -C \\\n    {}\n", fmt::join(specs, " \\\n    "));
  text += "  case $state in\n    command)\n      commands=(\n";
  for (const CommandDescription& below : command.commands) {
    text += fmt::format("        '{}:{}'\n", below.last_word(), zsh_escaped(below.summary));
  }
  text += "      )\n      _describe command commands\n      ;;\n    argument)\n";
  text += "      case $line[1] in\n";
  for (const CommandDescription& below : command.commands) {
    text += fmt::format("        {}) {} ;;\n", below.last_word(), zsh_function_name(below));
  }
  return text + "      esac\n      ;;\n  esac\n}\n\n";
}

}  // namespace

std::string bash_completion(const CommandDescription& program) {
  const auto commands = all_commands(program);
  std::vector<std::string> known;
  for (const CommandDescription* command : commands) {
    const std::string words = words_after_program(*command);
    if (words.empty()) continue;
    // Seen from the words before: "" and "predict", "saliency" and "eval".
    known.push_back("'" + std::string(words.find(' ') == words.npos ? " " : "") + words + "'");
  }
  std::string text = kBashHead;
  text += fmt::format("      {})\n", fmt::join(known, " | "));
  text +=
      "        command=${command:+$command }${COMP_WORDS[i]}\n"
      "        ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$command $previous\" in\n";
  for (const CommandDescription* command : commands) text += bash_values(*command);
  text += "  esac\n  case $command in\n";
  for (const CommandDescription* command : commands) text += bash_command(*command, program);
  return text + "  esac\n}\n\ncomplete -F _sact sact\n";
}

std::string zsh_completion(const CommandDescription& program) {
  std::string text =
      "#compdef sact\n# Completion of sact in zsh; made by 'sact generate-docs'.\n\n";
  for (const CommandDescription* command : all_commands(program)) {
    text += zsh_function(*command, program);
  }
  return text + "_sact \"$@\"\n";
}

}  // namespace sact::cli
