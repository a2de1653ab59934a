// Images as somebody names them: files, directories, patterns and standard input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/image.h"
#include "io/json.h"

namespace sact::app {

struct Input {
  std::filesystem::path path;  // "-" for standard input
  std::string error;           // not empty: this argument gave no image, and why
  // Below the folder that was named, or the first folder of a pattern; a file's name alone.
  std::filesystem::path relative = {};
  std::filesystem::path folder = {};                         // where `relative` starts
  std::shared_ptr<const std::vector<std::byte>> bytes = {};  // of standard input
  int64_t number = 0;                                        // in the whole list, from 1
  std::string picture = {};  // its picture's path below their folder, without what tells its kind
};

/// The files that are not taken, by kind: ".txt", "hidden", "of an earlier run", "given twice".
struct Skipped {
  std::map<std::string, int64_t> kinds;

  int64_t count() const;
  /// "skipped 3 files: 2 .txt, 1 .mp4", the most frequent kinds first; empty when there are none.
  std::string text() const;
  /// {".mp4": 1, ".txt": 2}
  io::Json json() const;
};

/// Files stay as they are, directories become the images in and below them, patterns (for shells
/// that did not expand them) what matches, "-" the image on standard input, which is read here. An
/// argument that gives nothing is kept with its error, and a file that was given twice is taken
/// once. Images below `excluded`, where the command's own pictures go, are not taken from
/// directories. What directories have besides is counted in `skipped`.
std::vector<Input> expand_inputs(const std::vector<std::string>& arguments,
                                 const std::filesystem::path& excluded = {},
                                 Skipped* skipped = nullptr);

/// Reads the image of an input, from its file or from standard input.
io::RgbImage read_input(const Input& input, const io::ReadOptions& options = {});
/// Its size and kind alone.
io::ImageHeader read_input_header(const Input& input, const io::ReadOptions& options = {});

/// For every input the path of its picture below one directory: the relative path of the image with
/// its extension, then `suffix` ("cats/a.jpg.ponder.png"). Where images of several folders share a
/// relative path, as many of their folders' names as tell them apart stand in front. No path leaves
/// the directory.
std::vector<std::string> picture_names(const std::vector<Input>& inputs, const std::string& suffix);

/// Gives the inputs of a whole list their numbers and the names of their pictures, which a part of
/// the list then keeps.
void number_inputs(std::vector<Input>& inputs);

/// One of `count` parts of a list, numbered from 1.
struct Shard {
  int64_t number = 1;
  int64_t count = 1;

  bool whole() const { return count == 1; }
};

/// "3/16"; throws sact::Error for anything else.
Shard parse_shard(const std::string& text);

/// Keeps the inputs of one part. A relative path belongs to the same part in every run and on every
/// machine, whatever else there is; parts are of about equal size.
void keep_shard(std::vector<Input>& inputs, const Shard& shard);

/// The images that the arguments stand for, numbered, of one part.
std::vector<Input> inputs_of(const std::vector<std::string>& arguments,
                             const std::filesystem::path& excluded, const Shard& shard,
                             Skipped& skipped);

/// The paths of those that gave an image, as text and as files.
std::vector<std::string> paths_of(const std::vector<Input>& inputs);
std::vector<std::filesystem::path> files_of(const std::vector<Input>& inputs);

/// Throws sact::Error when pictures would go into one of the directories that were named for their
/// images: they would be taken for images the next time.
void check_folders(const std::vector<std::string>& arguments, const std::filesystem::path& out);

}  // namespace sact::app
