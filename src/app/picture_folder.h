// The folder that a command writes its pictures into, one for each image.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/inputs.h"
#include "app/outputs.h"
#include "io/image.h"

namespace sact::app {

struct PictureFolderOptions {
  std::filesystem::path folder;
  std::string option;                       // that named the folder, for messages: "--out"
  std::string suffix;                       // of pictures: ".ponder.png"
  std::vector<std::string> arguments;       // the images as the user gave them
  std::vector<std::filesystem::path> read;  // further files that the command reads
  std::vector<std::string> others;          // further files that it writes in the folder
  std::vector<Output> outputs;              // and elsewhere
  bool shared = false;                      // with other parts of the same job
};

class PictureFolder {
 public:
  /// Makes the folder for pictures of the inputs. Throws sact::Error where it is one of the folders
  /// that were named for their images, cannot be written, or a file that is read would be
  /// overwritten; warns of pictures of an earlier run that stay there beside the new ones.
  PictureFolder(const PictureFolderOptions& options, const std::vector<Input>& inputs);

  /// Writes the picture of an image and returns where. Any thread may call it.
  std::string write(size_t input, const io::RgbImage& picture) const;

 private:
  void warn_of_earlier(const std::string& suffix) const;

  std::filesystem::path folder_;
  std::vector<std::string> names_;
};

}  // namespace sact::app
