// The image arguments of a command: files, directories and patterns.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sact::cli {

struct Input {
  std::filesystem::path path;
  std::string error;  // not empty: this argument gave no image, and why
  // Below the folder that was named, or the first folder of a pattern; a file's name alone.
  std::filesystem::path relative = {};
};

/// Files stay as they are, directories become the images in and below them, patterns (for shells
/// that did not expand them) what matches. An argument that gives nothing is kept with its error.
/// Images below `excluded`, where the command's own pictures go, are not taken from directories.
std::vector<Input> expand_inputs(const std::vector<std::string>& arguments,
                                 const std::filesystem::path& excluded = {});

/// For every input a file name of its own in one directory: the stem of the image, numbered where
/// two images share it, then `suffix`.
std::vector<std::string> unique_names(const std::vector<Input>& inputs, const std::string& suffix);

}  // namespace sact::cli
