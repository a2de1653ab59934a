// Names of classes, from a text file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sact::data {

/// One name a line; blank lines do not count. Refuses a file without a name.
std::vector<std::string> read_class_names(const std::filesystem::path& file);

/// The names of the classes whose (sorted) directories these are. The file has either one name a
/// line in the order of the directories, or lines that start with a directory, then a tab, comma or
/// space, then the name ("n01440764 tench, Tinca tinca"); such a list may hold further directories.
/// Empty lines do not count.
std::vector<std::string> read_class_names(const std::filesystem::path& file,
                                          const std::vector<std::string>& directories);

}  // namespace sact::data
