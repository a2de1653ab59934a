#include "app/picture_folder.h"

#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "report/pictures.h"

namespace sact::app {
namespace {

namespace fs = std::filesystem;

/// Makes the folders of a picture below `folder`. A link that somebody planted there would lead
/// elsewhere.
void make_folders(const fs::path& folder, const fs::path& relative) {
  fs::path below = folder;
  for (const fs::path& part : relative) {
    below /= part;
    std::error_code ignored;
    if (fs::is_symlink(below, ignored)) {
      fail("{}: is a link, which pictures are not written through; choose another folder",
           below.string());
    }
  }
  make_directories(below);
}

}  // namespace

PictureFolder::PictureFolder(const PictureFolderOptions& options, const std::vector<Input>& inputs)
    : folder_(options.folder) {
  report::need_pictures();
  for (const Input& input : inputs) names_.push_back(input.picture + options.suffix);
  check_folders(options.arguments, folder_);
  std::vector<fs::path> read = files_of(inputs);
  read.insert(read.end(), options.read.begin(), options.read.end());
  std::vector<Output> written = options.outputs;
  for (const std::string& name : names_) written.push_back({options.option, folder_ / name});
  for (const std::string& name : options.others)
    written.push_back({options.option, folder_ / name});
  protect_inputs(read, written);
  make_directories(folder_);
  check_writable(folder_ / "picture.png");
  for (const std::string& name : options.others) check_writable(folder_ / name);
  if (!options.shared) warn_of_earlier(options.suffix);
}

void PictureFolder::warn_of_earlier(const std::string& suffix) const {
  const std::set<std::string> ours(names_.begin(), names_.end());
  int64_t earlier = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().lexically_relative(folder_).string();
    if (name.ends_with(suffix) && !ours.count(name)) ++earlier;
  }
  if (earlier > 0) {
    log_warning(
        "{}: {} of an earlier run {} beside those of this one; choose another folder to keep "
        "them apart",
        folder_.string(), pluralize(earlier, "picture"), earlier == 1 ? "stays" : "stay");
  }
}

std::string PictureFolder::write(size_t input, const io::RgbImage& picture) const {
  const fs::path name = names_[input], path = folder_ / name;
  if (name.has_parent_path()) make_folders(folder_, name.parent_path());
  io::write_image(path, picture, Durability::kUnsynced);  // it can be made again
  return path.string();
}

}  // namespace sact::app
