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

/// The paths of those that gave an image, as text and as files.
std::vector<std::string> paths_of(const std::vector<Input>& inputs);
std::vector<std::filesystem::path> files_of(const std::vector<Input>& inputs);

/// Throws sact::Error when pictures would go into one of the directories that were named for their
/// images: they would be taken for images the next time.
void check_folders(const std::vector<std::string>& arguments, const std::filesystem::path& out);

/// Throws sact::Error when one of the files `names` of the directory is an image that was given.
void check_inputs_stay(const std::vector<Input>& inputs, const std::filesystem::path& directory,
                       const std::vector<std::string>& names);

}  // namespace sact::cli
