// The folder that a command writes its pictures into, one for each image.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/inputs.h"
#include "io/image.h"

namespace sact::cli {

class PictureFolder {
 public:
  /// Pictures are named after the images, with `suffix` at the end; `others` are further files that
  /// the command writes there. Makes the folder. Throws sact::Error where it lies among the images
  /// (`arguments` are as the user gave them), cannot be written, or a picture would replace an
  /// image; warns of pictures of an earlier run that stay there beside the new ones.
  PictureFolder(const std::filesystem::path& folder, const std::vector<std::string>& arguments,
                const std::vector<Input>& inputs, const std::string& suffix,
                const std::vector<std::string>& others = {});

  /// Writes the picture of an image and returns where. Any thread may call it.
  std::string write(size_t input, const io::Image& picture) const;

 private:
  void warn_of_earlier(const std::string& suffix) const;

  std::filesystem::path folder_;
  std::vector<std::string> names_;
};

}  // namespace sact::cli
