#include "data/photographs.h"

#include <filesystem>
#include <set>
#include <system_error>

#include "base/error.h"
#include "io/image.h"

namespace sact::data {
namespace {

namespace fs = std::filesystem;

class Photographs : public Dataset {
 public:
  explicit Photographs(std::vector<fs::path> files) : files_(std::move(files)) {}

  int64_t size() const override { return int64_t(files_.size()); }
  const std::vector<std::string>& class_names() const override { return class_names_; }
  std::string sample_name(int64_t index) const override {
    return files_.at(size_t(index)).string();
  }
  int label(int64_t) const override { return 0; }
  Sample load(int64_t index, int min_side) const override {
    io::ReadOptions options;
    options.min_side = min_side;
    return {io::read_image(files_.at(size_t(index)), options), 0};
  }

 private:
  std::vector<fs::path> files_;
  std::vector<std::string> class_names_ = {"photograph"};
};

void expect_folder(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return;
  const bool missing = status.type() == fs::file_type::not_found;
  fail("{}: {}; a folder of photographs is needed here", printable(path.string(), 4096),
       missing              ? "there is no such folder"
       : fs::exists(status) ? "is a file"
                            : error.message());
}

struct Found {
  std::vector<fs::path> files;
  std::vector<std::string> names;  // below their folders
};

Found find_photographs(const std::vector<std::string>& folders) {
  Found found;
  std::set<fs::path> taken;
  for (const fs::path folder : folders) {
    expect_folder(folder);
    const auto images = io::list_images(folder);
    if (images.empty()) {
      fail("{}: no {} image in this folder or below it", printable(folder.string(), 4096),
           io::kReadableFormats);
    }
    const fs::path root = fs::canonical(folder);
    for (const fs::path& image : images) {
      const fs::path name = image.lexically_relative(folder);
      if (!taken.insert(root / name).second) continue;
      found.files.push_back(image);
      found.names.push_back(name.generic_string());
    }
  }
  return found;
}

}  // namespace

std::unique_ptr<Dataset> open_photographs(const std::vector<std::string>& folders,
                                          const std::optional<HeldOutPart>& part) {
  Found found = find_photographs(folders);
  if (!part) return std::make_unique<Photographs>(std::move(found.files));
  const std::vector<bool> held_out =
      held_out_samples(found.names, std::vector<int>(found.names.size(), 0), part->share);
  std::vector<fs::path> files;
  for (size_t i = 0; i < held_out.size(); ++i) {
    if (held_out[i] == part->held_out) files.push_back(std::move(found.files[i]));
  }
  if (files.empty()) {
    fail("{}: has one photograph only; nothing can be held out for validation",
         printable(folders.front(), 4096));
  }
  return std::make_unique<Photographs>(std::move(files));
}

}  // namespace sact::data
