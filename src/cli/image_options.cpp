#include "cli/image_options.h"

#include "base/error.h"

namespace sact::cli {

void add_shard_option(CLI::App& command, app::Shard& shard) {
  command
      .add_option_function<std::string>(
          "--shard",
          [&shard](const std::string& text) {
            try {
              shard = app::parse_shard(text);
            } catch (const Error& error) {
              throw CLI::ValidationError("--shard", error.what());
            }
          },
          "Take only part K of N of the images, for several machines: which part an image is in "
          "depends on its path below the folder that was named, and on nothing else")
      ->type_name("K/N");
}

void add_max_pixels_option(CLI::App& command, io::ReadOptions& options) {
  options.limit_name = "--max-pixels";
  command
      .add_option("--max-pixels", options.max_pixels,
                  "Images with more pixels than this are refused")
      ->check(CLI::Range(int64_t(1), io::kMostPixels))
      ->type_name("N")
      ->capture_default_str();
}

}  // namespace sact::cli
