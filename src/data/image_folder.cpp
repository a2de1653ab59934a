// Listing and loading folders of photographs, and what can be wrong with them.
#include "data/image_folder.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "data/annotations.h"
#include "data/class_names.h"
#include "data/fields.h"

namespace sact::data {
namespace {

namespace fs = std::filesystem;

class ImageFolder : public Dataset {
 public:
  ImageFolder(fs::path folder, std::vector<std::string> class_names, std::vector<std::string> files,
              std::vector<int> labels, Annotations annotations)
      : folder_(std::move(folder)),
        class_names_(std::move(class_names)),
        files_(std::move(files)),
        labels_(std::move(labels)),
        annotations_(std::move(annotations)) {}

  int64_t size() const override { return int64_t(files_.size()); }
  const std::vector<std::string>& class_names() const override { return class_names_; }

  std::string sample_name(int64_t index) const override {
    return (folder_ / files_.at(size_t(index))).string();
  }

  int label(int64_t index) const override { return labels_.at(size_t(index)); }

  Sample load(int64_t index, int min_side) const override {
    const auto found = annotations_.find(index);
    const Annotation* annotation = found == annotations_.end() ? nullptr : &found->second;
    io::ReadOptions options;
    // Boxes in pixels of the image can only be read in the image at its full size.
    options.min_side = annotation && !annotation->has_size() ? 0 : min_side;
    const std::string name = sample_name(index);
    Sample sample{io::read_image(name, options), label(index)};
    if (annotation) {
      sample.boxes = normalized(*annotation, {sample.image.height, sample.image.width}, name);
    }
    return sample;
  }

 private:
  fs::path folder_;
  std::vector<std::string> class_names_;
  std::vector<std::string> files_;  // "class/name.jpg"
  std::vector<int> labels_;
  Annotations annotations_;
};

void check_is_directory(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    const bool is_missing = status.type() == fs::file_type::not_found;
    fail("{}: {}; a folder of images is needed here, or 'synthetic' for the built-in data set",
         path.string(), is_missing ? "there is no such folder" : error.message());
  }
  if (!fs::is_directory(status)) {
    fail("{}: is a file; a folder with a directory of images for each class is needed here",
         path.string());
  }
}

struct Listing {
  std::vector<std::string> directories;  // sorted
  int64_t images = 0;                    // image files beside the directories
};

Listing list_folder(const fs::path& folder) {
  check_is_directory(folder);
  Listing listing;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const fs::path& path = entry->path();
    const std::string name = path.filename().string();
    if (name.starts_with('.')) continue;
    std::error_code ignored;  // what cannot be looked at is no directory
    if (entry->is_directory(ignored)) {
      listing.directories.push_back(name);
    } else {
      listing.images += io::has_image_extension(path);
    }
  }
  if (error) fail("{}: cannot be listed: {}", folder.string(), error.message());
  std::sort(listing.directories.begin(), listing.directories.end());
  return listing;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What else can be done where there is no validation set.
const char* holding_out(const std::string& split) {
  return split != "val" ? ""
                        : ", or hold a part out: val_split=0.1 in training, 'val:0.1' as the split "
                          "in evaluation";
}

fs::path split_folder(const fs::path& root, const std::string& split) {
  const auto splits = image_folder_splits(root);
  if (contains(splits, split)) return root / split;
  if (!splits.empty()) {
    if (split.empty()) {
      fail("{}: has the splits {}; one of them must be chosen", root.string(), listed(splits));
    }
    fail("{}: has no split '{}'; it has {}{}", root.string(), printable(split), listed(splits),
         holding_out(split));
  }
  if (split.empty() || split == "train") return root;
  fail(
      "{}: has no split '{}': the folder is a single set, which the split 'train' takes whole; or "
      "make {} and {}{}",
      root.string(), printable(split), (root / "train").string(), (root / split).string(),
      holding_out(split));
}

struct Files {
  std::vector<std::string> names;
  std::vector<int> labels;
};

Files list_files(const fs::path& folder, const std::vector<std::string>& directories) {
  Files files;
  for (size_t label = 0; label < directories.size(); ++label) {
    const fs::path directory = folder / directories[label];
    const auto images = io::list_images(directory);
    if (images.empty()) {
      fail("{}: no {} image in this class; add some or remove the directory",
           printable(directory.string(), 4096), io::kReadableFormats);
    }
    for (const fs::path& image : images) {
      files.names.push_back(image.lexically_relative(folder).string());
      files.labels.push_back(int(label));
    }
  }
  return files;
}

/// Boxes from a table in the folder or above it.
Annotations find_boxes(const AnnotatedFolder& images) {
  for (const fs::path& directory : {images.folder, images.root}) {
    const fs::path table = directory / "boxes.csv";
    std::error_code ignored;
    if (!fs::is_regular_file(table, ignored)) continue;
    Annotations annotations = read_annotations_if_any(table, images);
    log_verbose("{}: boxes for {} of {} images", table.string(), annotations.size(),
                images.files.size());
    if (!annotations.empty()) return annotations;
  }
  return {};
}

}  // namespace

std::vector<std::string> image_folder_splits(const fs::path& root) {
  auto directories = list_folder(root).directories;
  if (!contains(directories, "train") && !contains(directories, "val")) return {};
  return directories;
}

std::unique_ptr<Dataset> open_image_folder(const fs::path& root, const std::string& split,
                                           const ImageFolderOptions& options) {
  const fs::path folder = split_folder(root, split);
  const Listing listing = list_folder(folder);
  if (listing.directories.empty()) {
    fail("{}: has no class directories{}; images are expected as {}", folder.string(),
         listing.images > 0 ? ", only images" : "", (folder / "CLASS" / "NAME.jpg").string());
  }
  if (listing.images > 0) {
    log_warning("not used: {} in {} beside the class directories",
                pluralize(listing.images, "image"), folder.string());
  }
  Files files = list_files(folder, listing.directories);
  std::vector<std::string> names = listing.directories;
  if (!options.class_names.empty()) {
    names = read_class_names(options.class_names, listing.directories);
  }
  AnnotatedFolder images{root, folder, std::move(files.names)};
  Annotations annotations;
  if (options.boxes.empty()) {
    annotations = find_boxes(images);
  } else if (options.boxes != "none") {
    annotations = read_annotations(options.boxes, images);
  }
  return std::make_unique<ImageFolder>(folder, std::move(names), std::move(images.files),
                                       std::move(files.labels), std::move(annotations));
}

}  // namespace sact::data
