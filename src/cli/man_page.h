// Manual pages of commands, in the format of man(7).
#pragma once

#include <string>

#include "cli/description.h"

namespace sact::cli {

/// "sact-saliency-eval" of "sact saliency eval": the name of its page.
std::string page_name(const CommandDescription& command);

std::string man_page(const CommandDescription& command);

}  // namespace sact::cli
