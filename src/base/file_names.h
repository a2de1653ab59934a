// Names of files that stand in a file, and may be anybody's.
#pragma once

#include <filesystem>
#include <string>

namespace sact {

/// Whether such a name leads to something below the folder that it is relative to: it is not
/// absolute and has no "..". Links in the folder are its owner's, and are followed.
bool stays_below(const std::filesystem::path& name);

/// The file of that name below the folder; `where` says in messages what has the name. Throws
/// sact::Error for one that leads out of the folder.
std::filesystem::path file_below(const std::filesystem::path& folder,
                                 const std::filesystem::path& name, const std::string& where);

}  // namespace sact
