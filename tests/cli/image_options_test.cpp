// Options of commands that take images.
#include "cli/image_options.h"

#include <gtest/gtest.h>

namespace sact::cli {
namespace {

TEST(ImageOptions, AreCheckedWhereTheyAreGiven) {
  CLI::App command;
  app::Shard shard;
  io::ReadOptions options;
  add_shard_option(command, shard);
  add_max_pixels_option(command, options);
  command.parse("--shard 2/3 --max-pixels 300000000");
  EXPECT_EQ(shard.number, 2);
  EXPECT_EQ(options.max_pixels, 300'000'000);
  EXPECT_EQ(options.limit_name, "--max-pixels");
  EXPECT_THROW(command.parse("--shard 4/3"), CLI::ValidationError);
  EXPECT_THROW(command.parse("--max-pixels 0"), CLI::ValidationError);
}

}  // namespace
}  // namespace sact::cli
