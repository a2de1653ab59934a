#include "cli/inputs.h"

#include <glob.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "io/image.h"

namespace sact::cli {
namespace {

namespace fs = std::filesystem;

bool lies_below(const fs::path& path, const fs::path& directory) {
  if (directory.empty()) return false;
  std::error_code ignored;
  const fs::path relative = fs::relative(path, directory, ignored);
  return !relative.empty() && *relative.begin() != "..";
}

/// The part of a match that stands for the pattern's folders in front of the first wildcard, which
/// the match may spell differently ("~").
fs::path fixed_folder(fs::path match, const std::string& pattern) {
  const size_t wildcard = pattern.find_first_of("*?[");
  const auto below = 1 + std::count(pattern.begin() + long(wildcard), pattern.end(), '/');
  for (auto i = below; i > 0; --i) match = match.parent_path();
  return match;
}

/// `folder` is what the images' relative paths start from.
void add_path(std::vector<Input>& inputs, const fs::path& path, const fs::path& folder,
              const fs::path& excluded) {
  std::error_code ignored;
  const auto below_folder = [&](const fs::path& image) {
    return folder.empty() ? image : image.lexically_relative(folder);
  };
  if (!fs::is_directory(path, ignored)) {
    inputs.push_back({path, {}, below_folder(path)});
    return;
  }
  try {
    auto images = io::list_images(path);
    // Pictures of an earlier run inside this folder are not meant, unless they are what was named.
    if (!lies_below(path, excluded))
      std::erase_if(images, [&](const fs::path& image) { return lies_below(image, excluded); });
    for (const fs::path& image : images) inputs.push_back({image, {}, below_folder(image)});
    if (images.empty()) {
      inputs.push_back({path, path.string() + ": no JPEG or PNG image in this directory"});
    }
  } catch (const Error& error) {
    inputs.push_back({path, error.what()});
  }
}

}  // namespace

std::vector<Input> expand_inputs(const std::vector<std::string>& arguments,
                                 const fs::path& excluded) {
  std::vector<Input> inputs;
  for (const std::string& argument : arguments) {
    std::error_code ignored;
    const bool pattern = argument.find_first_of("*?[") != argument.npos;
    if (!pattern || fs::exists(argument, ignored)) {
      const fs::path path = argument;
      add_path(inputs, path, fs::is_directory(path, ignored) ? path : path.parent_path(), excluded);
      continue;
    }
    glob_t matches{};
    if (::glob(argument.c_str(), GLOB_TILDE, nullptr, &matches) == 0) {
      for (size_t i = 0; i < matches.gl_pathc; ++i) {
        const fs::path match = matches.gl_pathv[i];
        add_path(inputs, match, fixed_folder(match, argument), excluded);
      }
    } else {
      inputs.push_back({argument, argument + ": no file matches this pattern"});
    }
    ::globfree(&matches);
  }
  return inputs;
}

std::vector<std::string> unique_names(const std::vector<Input>& inputs, const std::string& suffix) {
  std::set<std::string> taken;
  std::vector<std::string> names;
  for (const Input& input : inputs) {
    const std::string stem = input.path.stem().string();
    std::string name = stem + suffix;
    for (int number = 2; !taken.insert(name).second; ++number) {
      name = stem + "-" + std::to_string(number) + suffix;
    }
    names.push_back(name);
  }
  return names;
}

std::vector<std::string> paths_of(const std::vector<Input>& inputs) {
  std::vector<std::string> paths;
  for (const Input& input : inputs) {
    if (input.error.empty()) paths.push_back(input.path.string());
  }
  return paths;
}

std::vector<fs::path> files_of(const std::vector<Input>& inputs) {
  std::vector<fs::path> files;
  for (const Input& input : inputs) {
    if (input.error.empty()) files.push_back(input.path);
  }
  return files;
}

void check_folders(const std::vector<std::string>& arguments, const fs::path& out) {
  for (const std::string& argument : arguments) {
    std::error_code ignored;
    if (fs::is_directory(argument, ignored) && fs::equivalent(argument, out, ignored)) {
      fail("{}: the pictures would lie among the images; choose another --out", argument);
    }
  }
}

void check_inputs_stay(const std::vector<Input>& inputs, const fs::path& directory,
                       const std::vector<std::string>& names) {
  std::set<fs::path> written;
  for (const std::string& name : names) written.insert(fs::weakly_canonical(directory / name));
  for (const Input& input : inputs) {
    if (input.error.empty() && written.count(fs::weakly_canonical(input.path))) {
      fail("{}: a picture would be written over this image; choose another --out",
           input.path.string());
    }
  }
}

}  // namespace sact::cli
