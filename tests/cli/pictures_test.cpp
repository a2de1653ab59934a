// What pictures need of the machine: fonts, and where to remember them. Nothing of it may bother.
#include <gtest/gtest.h>

#include <fstream>

#include "data/synthetic.h"
#include "io/image.h"
#include "support/program.h"
#include "support/temporary.h"

namespace sact {
namespace {

class CliPictures : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto made = test::run_sact({"new", "--units", "1,1", "--width", "4", "--classes", "3",
                                      "--input-size", "64", "--out", "m"},
                                     directory_.path());
    ASSERT_EQ(made.status, 0) << made.err;
  }

  test::Finished predict(const std::string& photo, std::vector<std::string> environment = {}) {
    std::filesystem::remove_all(directory_ / "maps");
    io::write_image(directory_ / photo, data::synthetic_sample({}, 0).image);
    return test::Running({SACT_PROGRAM,
                          {"predict", "m", photo, "--out", "maps"},
                          std::move(environment),
                          directory_.path()})
        .wait();
  }

  std::string configuration(const std::string& text) {
    std::ofstream(directory_ / "fonts.conf") << "<fontconfig>" << text << "</fontconfig>";
    return "FONTCONFIG_FILE=" + (directory_ / "fonts.conf").string();
  }

  test::TemporaryDirectory directory_;
};

TEST_F(CliPictures, NamesMayBeInAnyScript) {
  for (const char* name : {"фото.png", "φωτογραφία.png", "صورة.png", "照片.png", "\xff\xc3.png"}) {
    const auto finished = predict(name);
    EXPECT_EQ(finished.status, 0) << name << finished.err;
    EXPECT_EQ(finished.err, "") << name;
  }
}

TEST_F(CliPictures, NothingIsSaidWhereFontsHaveNoConfiguration) {
  const auto finished = predict("a.png", {"FONTCONFIG_FILE=/no/such/file", "FONTCONFIG_PATH=/no",
                                          "HOME=/no/such/home", "XDG_CACHE_HOME=/no/cache"});
  EXPECT_EQ(finished.status, 0);
  EXPECT_EQ(finished.err, "");
}

TEST_F(CliPictures, NothingIsSaidWhereFontsCannotBeRemembered) {
  const auto finished = predict("a.png", {configuration("<dir>/usr/share/fonts</dir>"
                                                        "<cachedir>/proc/no/cache</cachedir>")});
  EXPECT_EQ(finished.status, 0);
  EXPECT_EQ(finished.err, "");
}

TEST_F(CliPictures, WithoutAnyFontPicturesAreDrawnAndThatIsSaidOnce) {
  const auto finished =
      predict("a.png", {configuration("<dir>" + (directory_ / "empty").string() + "</dir>")});
  EXPECT_EQ(finished.status, 0);
  EXPECT_TRUE(std::filesystem::exists(directory_ / "maps/a.png.ponder.png"));
  EXPECT_NE(finished.err.find("install fonts-dejavu-core"), std::string::npos) << finished.err;
  EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
}

}  // namespace
}  // namespace sact
