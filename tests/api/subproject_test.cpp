// sact inside of another project: that builds the library alone and changes nothing else there.
#include "api/shell.h"

namespace sact {
namespace {

TEST(Subproject, AParentProjectLinksTheLibraryAndRuns) {
  const test::TemporaryDirectory directory;
  const std::string build = (directory / "build").string(),
                    prefix = (directory / "prefix").string();
  test::output_of(SACT_CMAKE " -S " SACT_SOURCE_DIR "/tests/api/subproject -B " + build +
                  " -DSACT_SOURCE_DIR=" SACT_SOURCE_DIR + test::kSameTools +
                  " -C " SACT_SAME_BUILD);
  test::output_of(SACT_CMAKE " --build " + build);
  EXPECT_EQ(test::output_of(build + "/classify " + test::kModel + " " + test::kPicture),
            test::expected_of_example(SACT_PROGRAM));

  test::output_of(SACT_CMAKE " --install " + build + " --prefix " + prefix);
  EXPECT_TRUE(std::filesystem::exists(prefix + "/bin/classify"));
  EXPECT_FALSE(std::filesystem::exists(prefix + "/include"));
  EXPECT_FALSE(std::filesystem::exists(prefix + "/share"));
}

}  // namespace
}  // namespace sact
