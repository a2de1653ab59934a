// Completion of command lines in shells.
#pragma once

#include <string>

#include "cli/description.h"

namespace sact::cli {

std::string bash_completion(const CommandDescription& program);
std::string zsh_completion(const CommandDescription& program);

}  // namespace sact::cli
