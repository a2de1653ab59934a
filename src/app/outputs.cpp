#include "app/outputs.h"

#include <sys/stat.h>

#include <map>
#include <optional>
#include <utility>

#include "base/error.h"

namespace sact::app {
namespace {

namespace fs = std::filesystem;

/// What a file is, by whatever name: device and inode.
using Identity = std::pair<dev_t, ino_t>;

std::optional<Identity> identity_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return Identity(status.st_dev, status.st_ino);
}

/// The place that a name stands for when it is written: links above it are followed, but a link at
/// the name itself is replaced.
fs::path place_of(const fs::path& path) {
  std::error_code error;
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const fs::path folder = fs::weakly_canonical(parent, error);
  return error ? path.lexically_normal() : folder / path.filename();
}

/// The same for many files, of which most share a folder.
class Places {
 public:
  fs::path of(const fs::path& path) {
    const auto [folder, added] = folders_.try_emplace(path.parent_path());
    if (added) folder->second = place_of(path).parent_path();
    return folder->second / path.filename();
  }

 private:
  std::map<fs::path, fs::path> folders_;
};

/// The directory of `folders` that holds the file, or a link to it.
const fs::path* folder_with(const std::map<Identity, fs::path>& folders, const fs::path& file) {
  std::error_code error;
  for (const fs::path& name : {place_of(file), fs::canonical(file, error)}) {
    for (fs::path above = name.parent_path(); !above.empty(); above = above.parent_path()) {
      const auto identity = identity_of(above);
      const auto found = identity ? folders.find(*identity) : folders.end();
      if (found != folders.end()) return &found->second;
      if (above == above.parent_path()) break;
    }
  }
  return nullptr;
}

[[noreturn]] void fail_overwriting(const Output& output, const fs::path& read) {
  if (output.path == read) {
    fail("{} {}: this file is read, and would be overwritten; name another", output.option,
         read.string());
  }
  fail("{} {}: this is {}, which is read, and would be overwritten; name another file",
       output.option, output.path.string(), read.string());
}

}  // namespace

void protect_inputs(const std::vector<fs::path>& read, const std::vector<Output>& written) {
  std::map<Identity, fs::path> files, folders;
  for (const fs::path& path : read) {
    const auto identity = path.empty() ? std::nullopt : identity_of(path);
    if (identity) (fs::is_directory(path) ? folders : files).emplace(*identity, path);
  }
  std::map<fs::path, const Output*> places;
  Places known;
  for (const Output& output : written) {
    if (output.path.empty()) continue;
    const auto [same, first] = places.emplace(known.of(output.path), &output);
    if (!first) {
      fail("{} {}: {} writes the same file; name another", output.option, output.path.string(),
           same->second->option);
    }
    const auto identity = identity_of(output.path);
    if (!identity) continue;
    if (const auto found = files.find(*identity); found != files.end()) {
      fail_overwriting(output, found->second);
    }
    std::error_code ignored;
    if (folders.empty() || !fs::is_regular_file(output.path, ignored)) continue;
    if (const fs::path* folder = folder_with(folders, output.path)) {
      fail("{} {}: this file lies in {}, which is read, and would be overwritten; name another",
           output.option, output.path.string(), folder->string());
    }
  }
}

}  // namespace sact::app
