// Image arguments: files, directories, patterns.
#include "app/inputs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "support/errors.h"
#include "support/image_samples.h"
#include "support/temporary.h"

namespace sact::app {
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

TEST_F(Inputs, WhatFoldersHaveBesidesIsCountedByKind) {
  for (const char* name : {"a/b/more.TXT", "a/clip.mp4", "a/.DS_Store", "a/README"}) {
    std::ofstream(directory_ / name) << "x";
  }
  std::filesystem::create_directory_symlink(directory_ / "empty", directory_ / "a/link");
  Skipped skipped;
  expand_inputs({at("a"), at("a/notes.txt")}, {}, &skipped);
  EXPECT_EQ(skipped.count(), 6);
  EXPECT_EQ(skipped.text(),
            "skipped 6 files: 2 .txt, 1 .mp4, 1 hidden, 1 links to folders, 1 without extension");
  EXPECT_EQ(skipped.json().dump(),
            R"({".mp4":1,".txt":2,"hidden":1,"links to folders":1,"without extension":1})");
  Skipped nothing;
  expand_inputs({at("a/b/3.jpeg")}, {}, &nothing);
  EXPECT_EQ(nothing.text(), "");
}

TEST_F(Inputs, PicturesOfAnEarlierRunAreCountedAsSuch) {
  Skipped skipped;
  expand_inputs({at("a")}, at("a/b"), &skipped);
  EXPECT_EQ(skipped.text(), "skipped 2 files: 1 .txt, 1 of an earlier run");
}

TEST_F(Inputs, ReadingGoesByTheInputAndHidesWhereItComesFrom) {
  const io::RgbImage image = test::noise_image(5, 4, 1);
  io::write_image(directory_ / "p.png", image);
  Input file{directory_ / "p.png", {}}, piped{"-", {}, "stdin"};
  piped.bytes = std::make_shared<const std::vector<std::byte>>(io::encode_png(image));
  for (const Input& input : {file, piped}) {
    EXPECT_EQ(read_input(input).rgb, image.rgb);
    EXPECT_EQ(read_input_header(input).width, 5);
  }
  piped.bytes = std::make_shared<const std::vector<std::byte>>();
  EXPECT_EQ(test::error_of([&] { read_input(piped); }).substr(0, 12), "-: is empty;");
}

TEST_F(Inputs, ADashIsTheImageOnStandardInputOnce) {
  io::write_image(directory_ / "p.png", test::noise_image(5, 4, 1));
  const int kept = ::dup(STDIN_FILENO);
  const int file = ::open(at("p.png").c_str(), O_RDONLY);
  ::dup2(file, STDIN_FILENO);
  const std::vector<Input> inputs = expand_inputs({"-", "-"});
  ::dup2(kept, STDIN_FILENO);
  ::close(file);
  ::close(kept);
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].error, "");
  EXPECT_EQ(inputs[0].path, "-");
  EXPECT_EQ(read_input(inputs[0]).width, 5);
  EXPECT_NE(inputs[1].error.find("only once"), std::string::npos);
}

TEST_F(Inputs, PicturesMirrorTheFoldersAndKeepTheExtension) {
  EXPECT_EQ(picture_names(expand_inputs({at("a")}), ".p.png"),
            (std::vector<std::string>{"1.PNG.p.png", "2.jpg.p.png", "b/3.jpeg.p.png"}));
  EXPECT_EQ(picture_names({{"x/a.jpg", "", "a.jpg"}, {"x/a.png", "", "a.png"}}, ".p"),
            (std::vector<std::string>{"a.jpg.p", "a.png.p"}));
  EXPECT_EQ(picture_names({{"-", "", "stdin"}}, ".p"), (std::vector<std::string>{"stdin.p"}));
}

TEST_F(Inputs, FoldersTellPicturesApartWhereRelativePathsDoNot) {
  for (const char* folder : {"one/x", "two/x", "three"}) {
    std::filesystem::create_directories(directory_ / folder);
    std::ofstream(directory_ / folder / "1.jpg") << "x";
  }
  const auto names = [&](const std::vector<std::string>& arguments) {
    return picture_names(expand_inputs(arguments), "");
  };
  EXPECT_EQ(names({at("one/x"), at("three")}),
            (std::vector<std::string>{"x/1.jpg", "three/1.jpg"}));
  EXPECT_EQ(names({at("one/x"), at("two/x/")}),
            (std::vector<std::string>{"one/x/1.jpg", "two/x/1.jpg"}));
  EXPECT_EQ(names({at("three/1.jpg"), at("one/x/1.jpg"), at("one")}),
            (std::vector<std::string>{"three/1.jpg", "x/1.jpg"}))
      << "a file that was given twice is taken once";
  std::filesystem::create_directory_symlink(directory_ / "three", directory_ / "four");
  EXPECT_EQ(names({at("three"), at("four")}),
            (std::vector<std::string>{"three/1.jpg", "four/1.jpg"}));
}

TEST_F(Inputs, NoPictureLeavesItsFolder) {
  const std::vector<Input> inputs = {{"/x/../../a.jpg", "", "../../a.jpg"},
                                     {"/etc/b.jpg", "", "/etc/b.jpg"},
                                     {"c/./d.jpg", "", "c/./d.jpg"},
                                     {"photos/e.jpg", ""}};
  EXPECT_EQ(picture_names(inputs, ".p"),
            (std::vector<std::string>{"_/_/a.jpg.p", "etc/b.jpg.p", "c/d.jpg.p", "e.jpg.p"}));
}

TEST(Shards, AreWrittenAsPartOfHowMany) {
  EXPECT_EQ(parse_shard("3/16").number, 3);
  EXPECT_EQ(parse_shard("3/16").count, 16);
  EXPECT_TRUE(parse_shard("1/1").whole());
  for (const char* wrong :
       {"", "3", "/", "0/4", "5/4", "-1/4", "1/0", "1/2/3", "a/b", " 1/2", "1/2 "}) {
    EXPECT_NE(test::error_of([&] { parse_shard(wrong); }).find("3/16"), std::string::npos) << wrong;
  }
}

TEST(Shards, EveryImageIsInOnePartWhateverElseThereIs) {
  std::vector<Input> all;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "class" + std::to_string(i % 7) + "/" + std::to_string(i) + ".jpg";
    all.push_back({"/somewhere/" + name, "", name});
  }
  size_t sum = 0;
  for (int64_t number = 1; number <= 4; ++number) {
    std::vector<Input> part = all, elsewhere;
    keep_shard(part, {number, 4});
    sum += part.size();
    EXPECT_GT(part.size(), 200u);
    EXPECT_LT(part.size(), 300u);
    // On another machine, with half of the images only.
    for (size_t i = 0; i < part.size(); i += 2) {
      elsewhere.push_back({"/mnt" / part[i].relative, "", part[i].relative});
    }
    const size_t half = elsewhere.size();
    keep_shard(elsewhere, {number, 4});
    EXPECT_EQ(elsewhere.size(), half);
  }
  EXPECT_EQ(sum, all.size());
}

TEST(Shards, StayWhatTheyAreFromVersionToVersion) {
  // Results of a cluster that has run before must fit those of one that runs now.
  std::string parts;
  for (const char* name : {"a.jpg", "b.jpg", "cats/1.png", "cats/2.png", "dogs/1.png"}) {
    for (int64_t number = 1; number <= 8; ++number) {
      std::vector<Input> inputs = {{name, "", name}};
      keep_shard(inputs, {number, 8});
      if (!inputs.empty()) parts += std::to_string(number);
    }
  }
  EXPECT_EQ(parts, "87518");
}

}  // namespace
}  // namespace sact::app
