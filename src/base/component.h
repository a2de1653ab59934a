// Files that belong to this program or library: found where it lies, and opened only when both are
// of one build.
#pragma once

#include <filesystem>
#include <string>

namespace sact {

/// A file beside the program or library that has this code (in a build tree), or in the folder
/// lib/sact of where both are installed; empty when it is in neither, or when the system does not
/// say where the code comes from. The current directory has no part in it.
std::filesystem::path find_part(const std::string& name);
/// Why find_part() finds nothing, for messages: "X is not beside this program".
std::string why_no_part(const std::string& name);

/// Opens a library that find_part() found, for good, and returns the address of `symbol` in it.
/// Nothing of a library runs that is cut short, of another processor or of another build: it would
/// have other layouts of what passes between them. `what` is its name in messages: "LibTorch".
/// Throws sact::Error.
void* open_component(const std::filesystem::path& path, const std::string& what,
                     const char* symbol);

}  // namespace sact
