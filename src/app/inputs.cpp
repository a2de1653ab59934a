#include "app/inputs.h"

#include <glob.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/stable_hash.h"
#include "base/text.h"

namespace sact::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStandardInput = "-";

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

/// One spelling for one path. Links stay: two names of an image are two images.
fs::path plain_path(const fs::path& path) {
  std::error_code ignored;
  return fs::absolute(path, ignored).lexically_normal();
}

/// The kind of a file that no image is expected in.
std::string kind_of(const fs::path& path) {
  std::error_code ignored;
  if (path.filename().string().starts_with('.')) return "hidden";
  if (fs::is_directory(path, ignored)) return "links to folders";  // other folders are looked into
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return extension.empty() ? "without extension" : extension;
}

/// What all arguments have in common.
struct Expansion {
  const fs::path& excluded;
  Skipped& skipped;
  std::vector<Input> inputs = {};
  std::set<fs::path> taken = {};

  void add_file(const fs::path& path, const fs::path& folder) {
    if (!taken.insert(plain_path(path)).second) {
      ++skipped.kinds["given twice"];
      return;
    }
    inputs.push_back({path, {}, folder.empty() ? path : path.lexically_relative(folder), folder});
  }

  void add_directory(const fs::path& path, const fs::path& folder) {
    std::vector<fs::path> others;
    auto images = io::list_images(path, &others);
    for (const fs::path& other : others) ++skipped.kinds[kind_of(other)];
    // Pictures of an earlier run inside this folder are not meant, unless they are what was named.
    if (!lies_below(path, excluded)) {
      const auto count =
          std::erase_if(images, [&](const fs::path& image) { return lies_below(image, excluded); });
      if (count > 0) skipped.kinds["of an earlier run"] += int64_t(count);
    }
    for (const fs::path& image : images) add_file(image, folder);
    if (images.empty()) {
      inputs.push_back({path, fmt::format("{}: no {} image in this directory", path.string(),
                                          io::kReadableFormats)});
    }
  }

  /// `folder` is what the images' relative paths start from.
  void add_path(const fs::path& path, const fs::path& folder) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
      add_file(path, folder);
      return;
    }
    try {
      add_directory(path, folder);
    } catch (const Error& error) {
      inputs.push_back({path, error.what()});
    }
  }

  void add_pattern(const std::string& pattern) {
    glob_t matches{};
    if (::glob(pattern.c_str(), GLOB_TILDE, nullptr, &matches) == 0) {
      for (size_t i = 0; i < matches.gl_pathc; ++i) {
        const fs::path match = matches.gl_pathv[i];
        add_path(match, fixed_folder(match, pattern));
      }
    } else {
      inputs.push_back({pattern, pattern + ": no file matches this pattern"});
    }
    ::globfree(&matches);
  }

  void add_standard_input() {
    Input input{kStandardInput, {}, "stdin"};
    const bool again = std::any_of(inputs.begin(), inputs.end(),
                                   [](const Input& other) { return other.path == kStandardInput; });
    try {
      if (again) fail("-: standard input can be read only once");
      input.bytes = std::make_shared<const std::vector<std::byte>>(
          read_standard_input(io::kMaxImageFileBytes));
    } catch (const Error& error) {
      input.error = error.what();
    }
    inputs.push_back(std::move(input));
  }
};

/// The path without what could lead out of the directory that it is put in.
fs::path kept_below(const fs::path& path) {
  fs::path kept;
  for (const fs::path& part : path.relative_path()) {
    if (part.empty() || part == ".") continue;
    kept /= part == ".." ? fs::path("_") : part;
  }
  return kept;
}

/// A picture's name as it grows by the names of folders until no other image has it.
struct GrowingName {
  fs::path file;
  fs::path folders;  // all that could stand in front
  fs::path name;

  /// False when there is nothing left to put in front.
  bool grow() {
    if (folders.empty()) return false;
    name = folders.filename() / name;
    folders = folders.parent_path();
    return true;
  }
};

GrowingName growing_name(const Input& input) {
  const fs::path relative = input.relative.empty() ? input.path.filename() : input.relative;
  return {plain_path(input.path), kept_below(plain_path(input.folder)), kept_below(relative)};
}

/// Lets the names that several images share grow; false when none could.
bool grow_shared(std::vector<GrowingName>& names) {
  std::map<fs::path, std::set<fs::path>> files;
  for (const GrowingName& name : names) files[name.name].insert(name.file);
  bool grown = false;
  for (GrowingName& name : names) {
    if (files[name.name].size() > 1) grown |= name.grow();
  }
  return grown;
}

/// No longer than a file system takes with a suffix behind it: a long name is cut, and a hash keeps
/// it apart from others.
fs::path short_enough(const fs::path& path) {
  constexpr size_t kLongest = 200;
  const std::string name = path.filename().string();
  if (name.size() <= kLongest) return path;
  return path.parent_path() /
         fmt::format("{}-{:016x}", printable(name, kLongest - 20), stable_hash(name));
}

}  // namespace

int64_t Skipped::count() const {
  int64_t sum = 0;
  for (const auto& [kind, count] : kinds) sum += count;
  return sum;
}

std::string Skipped::text() const {
  if (kinds.empty()) return {};
  std::vector<std::pair<std::string, int64_t>> sorted(kinds.begin(), kinds.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text = fmt::format("skipped {}: ", pluralize(count(), "file"));
  constexpr size_t kMostKinds = 6;
  for (size_t i = 0; i < std::min(sorted.size(), kMostKinds); ++i) {
    text += fmt::format("{}{} {}", i > 0 ? ", " : "", sorted[i].second, printable(sorted[i].first));
  }
  if (sorted.size() > kMostKinds) {
    text += fmt::format(", and {}", pluralize(int64_t(sorted.size() - kMostKinds), "other kind"));
  }
  return text;
}

io::Json Skipped::json() const {
  io::Json json = io::Json::object();
  for (const auto& [kind, count] : kinds) json[kind] = count;
  return json;
}

std::vector<Input> expand_inputs(const std::vector<std::string>& arguments,
                                 const fs::path& excluded, Skipped* skipped) {
  Skipped unseen;
  Expansion expansion{excluded, skipped ? *skipped : unseen};
  for (const std::string& argument : arguments) {
    std::error_code ignored;
    const bool pattern = argument.find_first_of("*?[") != argument.npos;
    if (argument == kStandardInput) {
      expansion.add_standard_input();
    } else if (pattern && !fs::exists(argument, ignored)) {
      expansion.add_pattern(argument);
    } else {
      const fs::path path = argument;
      expansion.add_path(path, fs::is_directory(path, ignored) ? path : path.parent_path());
    }
  }
  return std::move(expansion.inputs);
}

io::RgbImage read_input(const Input& input, const io::ReadOptions& options) {
  if (!input.bytes) return io::read_image(input.path, options);
  return io::decode_image(*input.bytes, input.path.string(), options);
}

io::ImageHeader read_input_header(const Input& input, const io::ReadOptions& options) {
  if (!input.bytes) return io::read_image_header(input.path, options);
  return io::decode_image_header(*input.bytes, input.path.string(), options);
}

std::vector<std::string> picture_names(const std::vector<Input>& inputs,
                                       const std::string& suffix) {
  std::vector<GrowingName> growing;
  for (const Input& input : inputs) growing.push_back(growing_name(input));
  while (grow_shared(growing)) {
  }
  std::vector<std::string> names;
  for (const GrowingName& name : growing) {
    names.push_back(short_enough(name.name).string() + suffix);
  }
  return names;
}

void number_inputs(std::vector<Input>& inputs) {
  const std::vector<std::string> names = picture_names(inputs, "");
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].number = int64_t(i) + 1;
    inputs[i].picture = names[i];
  }
}

Shard parse_shard(const std::string& text) {
  Shard shard;
  const char* end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, shard.number);
  bool good = number.ec == std::errc() && number.ptr != end && *number.ptr == '/';
  if (good) {
    const auto count = std::from_chars(number.ptr + 1, end, shard.count);
    good = count.ec == std::errc() && count.ptr == end;
  }
  if (!good || shard.number < 1 || shard.count < shard.number) {
    fail("'{}' is no part of a list; expected K/N with K from 1 to N, such as 3/16",
         printable(text));
  }
  return shard;
}

void keep_shard(std::vector<Input>& inputs, const Shard& shard) {
  std::erase_if(inputs, [&](const Input& input) {
    const fs::path& name = input.relative.empty() ? input.path : input.relative;
    return stable_hash(name.generic_string()) % uint64_t(shard.count) != uint64_t(shard.number - 1);
  });
}

std::vector<Input> inputs_of(const std::vector<std::string>& arguments, const fs::path& excluded,
                             const Shard& shard, Skipped& skipped) {
  std::vector<Input> inputs = expand_inputs(arguments, excluded, &skipped);
  number_inputs(inputs);
  keep_shard(inputs, shard);
  return inputs;
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
      fail("{}: the pictures would lie among the images; choose another folder for them", argument);
    }
  }
}

}  // namespace sact::app
