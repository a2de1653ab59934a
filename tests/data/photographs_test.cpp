// Folders of photographs without classes.
#include "data/photographs.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "io/image.h"
#include "support/errors.h"
#include "support/temporary.h"

namespace sact::data {
namespace {

namespace fs = std::filesystem;

class PhotographFolders : public ::testing::Test {
 protected:
  std::string add(const std::string& name, int width = 8) {
    const fs::path path = directory_ / name;
    fs::create_directories(path.parent_path());
    io::write_image(path, io::RgbImage(width, 8));
    return path.string();
  }
  std::string folder(const std::string& name) { return (directory_ / name).string(); }

  static std::vector<std::string> names(const Dataset& set) {
    std::vector<std::string> list;
    for (int64_t i = 0; i < set.size(); ++i) list.push_back(set.sample_name(i));
    return list;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(PhotographFolders, AreLookedThroughToTheBottomWithoutClasses) {
  const auto b = add("a/sub/deeper/2.png", 9), a = add("a/1.png"), c = add("c/0.png");
  std::ofstream(directory_ / "a/notes.txt") << "not a picture";
  const auto set = open_photographs({folder("a"), folder("c")});
  EXPECT_EQ(names(*set), (std::vector<std::string>{a, b, c}));
  EXPECT_EQ(set->classes(), 1);
  EXPECT_EQ(set->label(1), 0);
  EXPECT_EQ(set->load(1).image.width, 9);
}

TEST_F(PhotographFolders, AFileThatIsReachedTwiceCountsOnce) {
  add("a/1.png");
  add("a/b/2.png");
  EXPECT_EQ(open_photographs({folder("a"), folder("a/b"), folder("a/../a")})->size(), 2);
}

TEST_F(PhotographFolders, HeldOutOnesAreNotTrainedOnAndStayTheSameInAnotherPlace) {
  for (int i = 0; i < 40; ++i) add("a/" + std::to_string(i) + ".png");
  const auto train = open_photographs({folder("a")}, {{false, 0.1}});
  const auto val = open_photographs({folder("a")}, {{true, 0.1}});
  EXPECT_EQ(train->size(), 36);
  EXPECT_EQ(val->size(), 4);
  const auto kept = names(*train), held = names(*val);
  std::set<std::string> all(kept.begin(), kept.end());
  all.insert(held.begin(), held.end());
  EXPECT_EQ(all.size(), 40u);
  fs::rename(directory_ / "a", directory_ / "moved");
  const auto moved = names(*open_photographs({folder("moved")}, {{true, 0.1}}));
  for (size_t i = 0; i < held.size(); ++i) {
    EXPECT_EQ(fs::path(moved[i]).filename(), fs::path(held[i]).filename());
  }
}

TEST_F(PhotographFolders, MistakesNameTheFolder) {
  add("one/1.png");
  fs::create_directories(directory_ / "empty");
  auto message = [&](const std::string& name) {
    return test::error_of([&] { open_photographs({folder(name)}, {{true, 0.1}}); });
  };
  EXPECT_NE(message("none").find("none: there is no such folder"), std::string::npos);
  EXPECT_NE(message("empty").find("empty: no JPEG"), std::string::npos) << message("empty");
  EXPECT_NE(message("one/1.png").find("1.png: is a file"), std::string::npos);
  EXPECT_NE(message("one").find("one: has one photograph only"), std::string::npos);
}

}  // namespace
}  // namespace sact::data
