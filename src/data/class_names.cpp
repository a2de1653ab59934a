// Reading class names and telling the two forms of such files apart.
#include "data/class_names.h"

#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "data/fields.h"

namespace sact::data {
namespace {

constexpr uint64_t kMaxBytes = 64 << 20;

using NamesByDirectory = std::unordered_map<std::string, std::string>;

/// What lines of the form "directory name" say about directories that are there. Directories and
/// names may hold the separators themselves, so a line is cut wherever that gives a directory.
NamesByDirectory names_by_directory(const std::vector<std::string>& lines,
                                    const std::vector<std::string>& directories) {
  const std::unordered_set<std::string> known(directories.begin(), directories.end());
  NamesByDirectory names;
  for (const std::string& line : lines) {
    for (const char separator : {'\t', ',', ' '}) {
      const size_t end = line.find(separator);
      if (end == std::string::npos) continue;
      const std::string directory(trimmed(std::string_view(line).substr(0, end)));
      const std::string name(trimmed(std::string_view(line).substr(end + 1)));
      if (name.empty() || !known.contains(directory)) continue;
      names[directory] = name;
      break;
    }
  }
  return names;
}

}  // namespace

std::vector<std::string> read_class_names(const std::filesystem::path& file) {
  std::vector<std::string> names = read_filled_lines(file, kMaxBytes);
  if (names.empty()) fail("{}: names no class; write one name a line", file.string());
  return names;
}

std::vector<std::string> read_class_names(const std::filesystem::path& file,
                                          const std::vector<std::string>& directories) {
  const std::vector<std::string> lines = read_filled_lines(file, kMaxBytes);
  const NamesByDirectory named = names_by_directory(lines, directories);
  // More than half: a list in order may by chance have a name that starts like a directory, and a
  // list by directory may lack one that the message should then name.
  if (named.size() * 2 > directories.size()) {
    std::vector<std::string> names;
    for (const std::string& directory : directories) {
      const auto found = named.find(directory);
      if (found == named.end()) {
        fail("{}: has no name for the class directory '{}'; add a line '{} NAME'", file.string(),
             printable(directory), printable(directory));
      }
      names.push_back(found->second);
    }
    return names;
  }
  if (lines.size() != directories.size()) {
    fail(
        "{}: has {} names for {} classes; give one name a line in the order of the class "
        "directories, or lines 'DIRECTORY NAME'",
        file.string(), lines.size(), directories.size());
  }
  return lines;
}

}  // namespace sact::data
