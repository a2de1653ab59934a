// Image arguments: files, directories, patterns.
#include "cli/inputs.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temporary.h"

namespace sact::cli {
namespace {

std::vector<std::string> names_of(const std::vector<Input>& inputs) {
  std::vector<std::string> names;
  for (const Input& input : inputs) {
    names.push_back((input.error.empty() ? "" : "!") + input.path.filename().string());
  }
  return names;
}

class Inputs : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(directory_ / "a/b");
    std::filesystem::create_directories(directory_ / "empty");
    for (const char* name : {"a/2.jpg", "a/1.PNG", "a/b/3.jpeg", "a/notes.txt", "x*.jpg"}) {
      std::ofstream(directory_ / name) << "x";
    }
  }
  std::string at(const std::string& name) { return (directory_ / name).string(); }
  test::TemporaryDirectory directory_;
};

TEST_F(Inputs, DirectoriesBecomeTheirImagesInNameOrder) {
  EXPECT_EQ(names_of(expand_inputs({at("a")})),
            (std::vector<std::string>{"1.PNG", "2.jpg", "3.jpeg"}));
}

TEST_F(Inputs, FilesStayEvenWhenTheyAreNotThereOrNotImages) {
  EXPECT_EQ(names_of(expand_inputs({at("a/notes.txt"), at("missing.jpg")})),
            (std::vector<std::string>{"notes.txt", "missing.jpg"}));
}

TEST_F(Inputs, PatternsAreExpandedAndAFileOfThatVeryNameWins) {
  EXPECT_EQ(names_of(expand_inputs({at("a/?.*")})), (std::vector<std::string>{"1.PNG", "2.jpg"}));
  EXPECT_EQ(names_of(expand_inputs({at("x*.jpg")})), (std::vector<std::string>{"x*.jpg"}));
}

TEST_F(Inputs, RelativePathsStartAtWhatWasNamed) {
  const auto relative = [&](const std::string& argument) {
    std::string paths;
    for (const Input& input : expand_inputs({argument})) paths += input.relative.string() + " ";
    return paths;
  };
  EXPECT_EQ(relative(at("a")), "1.PNG 2.jpg b/3.jpeg ");
  EXPECT_EQ(relative(at("a/")), "1.PNG 2.jpg b/3.jpeg ");
  EXPECT_EQ(relative(at("a/2.jpg")), "2.jpg ");
  EXPECT_EQ(relative(at("a/?.*")), "1.PNG 2.jpg ");
  EXPECT_EQ(relative(at("?/b/*.jpeg")), "a/b/3.jpeg ");
  EXPECT_EQ(relative(at("[a]")), "a/1.PNG a/2.jpg a/b/3.jpeg ");
}

TEST_F(Inputs, ArgumentsThatGiveNothingAreKeptAsErrors) {
  EXPECT_EQ(names_of(expand_inputs({at("empty"), at("q*.jpg")})),
            (std::vector<std::string>{"!empty", "!q*.jpg"}));
}

TEST_F(Inputs, PicturesOfAnEarlierRunAreNotInputs) {
  EXPECT_EQ(names_of(expand_inputs({at("a")}, at("a/b"))),
            (std::vector<std::string>{"1.PNG", "2.jpg"}));
  EXPECT_EQ(names_of(expand_inputs({at("a/b/3.jpeg")}, at("a/b"))),
            (std::vector<std::string>{"3.jpeg"}))
      << "unless they are named";
}

TEST_F(Inputs, PicturesOfEqualNamesDoNotOverwriteEachOther) {
  const std::vector<Input> inputs = {
      {"a/1.jpg", ""}, {"b/1.png", ""}, {"c/1-2.jpg", ""}, {"d/1.jpg", ""}};
  EXPECT_EQ(unique_names(inputs, ".p"),
            (std::vector<std::string>{"1.p", "1-2.p", "1-2-2.p", "1-3.p"}));
}

}  // namespace
}  // namespace sact::cli
