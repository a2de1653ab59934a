#include "cli/usage.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/suggest.h"

namespace sact::cli {
namespace {

/// The command that was given, as far as it is known: "sact saliency" of "sact saliency evl".
const CLI::App& given_command(const CLI::App& app, std::string& name) {
  const CLI::App* command = &app;
  name = app.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().back();
    name += " " + command->get_name();
  }
  return *command;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// The first argument that is an option nobody declared, without its value; or nothing.
std::string unknown_option(const std::vector<std::string>& remaining) {
  const auto found = std::find_if(remaining.begin(), remaining.end(), [](const std::string& word) {
    return word.size() > 1 && word[0] == '-' && word != "--";
  });
  return found == remaining.end() ? std::string() : found->substr(0, found->find('='));
}

std::string problem(const CLI::App& app, const CLI::App& command, const std::string& name,
                    const CLI::Error& error) {
  const std::vector<std::string> remaining = app.remaining(true);
  const bool parsing = dynamic_cast<const CLI::RequiredError*>(&error) ||
                       dynamic_cast<const CLI::ExtrasError*>(&error) ||
                       dynamic_cast<const CLI::RequiresError*>(&error);
  const std::vector<std::string> commands = command_names(command);
  if (parsing && remaining.empty() && !commands.empty()) {
    return fmt::format("'{}' needs a command: {}", name, fmt::join(commands, ", "));
  }
  if (!parsing || remaining.empty()) return error.what();
  // What is required may be missing only because it was mistyped, so that comes first.
  if (const std::string option = unknown_option(remaining); !option.empty()) {
    return fmt::format("'{}' has no option '{}'{}", name, printable(option),
                       did_you_mean(option, option_names(command)));
  }
  if (!commands.empty()) return no_such_command(command, remaining.front());
  return error.what();
}

}  // namespace

std::vector<std::string> command_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* below : command.get_subcommands({})) {
    if (!below->get_group().empty()) names.push_back(below->get_name());
  }
  return names;
}

std::string no_such_command(const CLI::App& command, const std::string& word) {
  return fmt::format("there is no command '{}'{}", printable(word),
                     did_you_mean(word, command_names(command)));
}

std::string usage_message(const CLI::App& app, const CLI::Error& error) {
  std::string name;
  const CLI::App& command = given_command(app, name);
  return problem(app, command, name, error) + "; see '" + name + " --help'";
}

}  // namespace sact::cli
