// The help of commands as text for a terminal: wrapped, in columns, with a little colour.
#pragma once

#include <string>

#include "cli/description.h"

namespace sact::cli {

/// Lines of at most `columns` characters, where words allow it.
std::string help_text(const CommandDescription& command, int columns, bool colour);

/// Has CLI11 print help_text() for `app` and the commands that are declared on it from now on.
void use_own_help(CLI::App& app);

/// Text with sections, such as a list of settings, as it stands at the end of a help.
std::string wrapped_sections(const std::string& text, int columns, bool colour);

/// Columns that help takes on standard output: what there is, but no lines too long to read.
int help_columns();

}  // namespace sact::cli
