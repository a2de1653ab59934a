// Wrong usage in one line: what is not known, and what was probably meant.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace sact::cli {

/// The commands below one that are not hidden.
std::vector<std::string> command_names(const CLI::App& command);

/// "there is no command 'predcit' (did you mean 'predict'?)"
std::string no_such_command(const CLI::App& command, const std::string& word);

/// What to say when parsing the command line failed, with where to read more.
std::string usage_message(const CLI::App& app, const CLI::Error& error);

}  // namespace sact::cli
