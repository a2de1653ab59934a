// Tests of image folders: layout, class names, splits, and what is refused.
#include "data/image_folder.h"

#include <gtest/gtest.h>

#include "data/class_names.h"
#include "dataset_samples.h"
#include "support/image_samples.h"

namespace sact::data {
namespace {

using namespace sact::test;

/// Classes cat (values 10, 20) and dog (value 30), as photographs of different formats.
void make_pets(const std::filesystem::path& root) {
  write_plain(root / "dog" / "z.PNG.png", 8, 6, 30);
  write_plain(root / "cat" / "b.jpg", 16, 8, 20);
  write_plain(root / "cat" / "a.png", 4, 8, 10);
  std::filesystem::rename(root / "cat" / "b.jpg", root / "cat" / "b.JPEG");
}

TEST(ImageFolder, LabelsFollowSortedDirectoriesAndFilesAreSorted) {
  TemporaryDirectory root;
  make_pets(root.path());
  write_text(root / "README.txt", "not an image");
  write_text(root / "cat/notes.txt", "not an image");
  write_text(root / ".cache/x.png", "hidden");
  const auto set = open_image_folder(root.path(), "", {});
  EXPECT_EQ(set->class_names(), (Names{"cat", "dog"}));
  ASSERT_EQ(set->size(), 3);
  EXPECT_EQ(set->sample_name(0), (root.path() / "cat" / "a.png").string());
  EXPECT_EQ(set->sample_name(1), (root.path() / "cat" / "b.JPEG").string());
  EXPECT_EQ(set->load(0).label, 0);
  EXPECT_EQ(set->load(1).label, 0);
  const Sample dog = set->load(2);
  EXPECT_EQ(dog.label, 1);
  EXPECT_EQ(dog.image.width, 8);
  EXPECT_EQ(dog.image.height, 6);
  EXPECT_EQ(dog.image.rgb[0], 30);
  EXPECT_TRUE(dog.boxes.empty());
}

TEST(ImageFolder, ImagesBelowAClassDirectoryBelongToTheClass) {
  TemporaryDirectory root;
  write_plain(root / "cat/images/a.png", 4, 4, 1);
  write_plain(root / "dog/a.png", 4, 4, 2);
  const auto set = open_image_folder(root.path(), "train", {});
  ASSERT_EQ(set->size(), 2);
  EXPECT_EQ(set->sample_name(0), (root.path() / "cat" / "images" / "a.png").string());
}

TEST(ImageFolder, SplitsAreSubdirectories) {
  TemporaryDirectory root;
  make_pets(root / "train");
  write_plain(root / "val/cat/only.png", 4, 4, 77);
  EXPECT_EQ(image_folder_splits(root.path()), (Names{"train", "val"}));
  EXPECT_EQ(open_image_folder(root.path(), "train", {})->size(), 3);
  const auto val = open_image_folder(root.path(), "val", {});
  ASSERT_EQ(val->size(), 1);
  EXPECT_EQ(val->load(0).image.rgb[0], 77);
  const std::string unknown = error_of([&] { open_image_folder(root.path(), "test", {}); });
  EXPECT_TRUE(says(unknown, "'test'") && says(unknown, "train and val")) << unknown;
  EXPECT_TRUE(says(error_of([&] { open_image_folder(root.path(), "", {}); }), "train and val"));
}

TEST(ImageFolder, WithoutSplitsTheFolderIsTheTrainingSet) {
  TemporaryDirectory root;
  make_pets(root.path());
  EXPECT_TRUE(image_folder_splits(root.path()).empty());
  EXPECT_EQ(open_image_folder(root.path(), "train", {})->size(), 3);
  EXPECT_EQ(open_image_folder(root.path(), "", {})->size(), 3);
  const std::string message = error_of([&] { open_image_folder(root.path(), "val", {}); });
  EXPECT_TRUE(says(message, "no split 'val'") && says(message, "single set")) << message;
}

TEST(ImageFolder, MissingFolderEmptyFolderFileAndLooseImagesAreToldApart) {
  TemporaryDirectory root;
  auto message = [&](const std::string& name) {
    return error_of([&] { open_image_folder(root / name, "", {}); });
  };
  EXPECT_TRUE(says(message("nowhere"), "nowhere: there is no such folder"));
  write_text(root / "file", "x");
  EXPECT_TRUE(says(message("file"), "file: is a file"));
  std::filesystem::create_directory(root / "empty");
  EXPECT_TRUE(says(message("empty"), "empty: has no class directories;"));
  write_plain(root / "loose/a.png", 4, 4, 1);
  EXPECT_TRUE(says(message("loose"), "only images"));
}

TEST(ImageFolder, ClassWithoutImagesIsNamed) {
  TemporaryDirectory root;
  make_pets(root.path());
  write_text(root / "bird/photo.mp4", "no picture");
  const std::string message = error_of([&] { open_image_folder(root.path(), "", {}); });
  EXPECT_TRUE(says(message, (root / "bird").string() + ": no JPEG, PNG")) << message;
}

TEST(ImageFolder, ImagesBesideTheClassesAreCountedInAWarning) {
  TemporaryDirectory root;
  make_pets(root.path());
  write_plain(root / "stray.png", 4, 4, 1);
  CaptureStderr();
  EXPECT_EQ(open_image_folder(root.path(), "", {})->size(), 3);
  const std::string output = GetCapturedStderr();
  EXPECT_TRUE(says(output, "not used: 1 image in")) << output;
}

TEST(ImageFolder, DamagedImageIsAnErrorThatNamesIt) {
  TemporaryDirectory root;
  make_pets(root.path());
  write_text(root / "cat/c.png", "not a png");
  const auto set = open_image_folder(root.path(), "", {});
  EXPECT_TRUE(says(error_of([&] { set->load(2); }), "c.png"));
}

TEST(ImageFolder, MinSideDecodesPhotographsAtReducedScale) {
  TemporaryDirectory root;
  std::filesystem::create_directory(root / "cat");
  io::write_image(root / "cat/a.jpg", test::gradient_image(256, 128));
  const auto set = open_image_folder(root.path(), "", {});
  EXPECT_EQ(set->load(0, 32).image.width, 64);
  EXPECT_EQ(set->load(0, 33).image.width, 128);
  EXPECT_EQ(set->load(0).image.width, 256);
}

class ClassNames : public testing::Test {
 protected:
  Names read(std::string_view text) {
    write_text(folder_ / "names.txt", text);
    return read_class_names(folder_ / "names.txt", directories_);
  }
  std::string refusal(std::string_view text) {
    return error_of([&] { read(text); });
  }

  TemporaryDirectory folder_;
  Names directories_ = {"n01", "n02", "n03"};
};

TEST_F(ClassNames, OneNameALineInOrder) {
  EXPECT_EQ(read("tench\nEnglish springer\r\n\n  church  \n"),
            (Names{"tench", "English springer", "church"}));
}

TEST_F(ClassNames, DirectoryThenNameInAnyOrderWithMoreDirectoriesThanThereAre) {
  const Names expected = {"tench, Tinca tinca", "springer", "church"};
  EXPECT_EQ(read("n03 church\nn09 other\nn01 tench, Tinca tinca\nn02 springer\n"), expected);
  EXPECT_EQ(read("n03\tchurch\nn01\ttench, Tinca tinca\nn02\tspringer"), expected);
  EXPECT_EQ(read("\xef\xbb\xbfn01,\"tench\"\nn02,springer\nn03,church")[0], "\"tench\"");
}

TEST_F(ClassNames, DirectoriesMayHoldSpaces) {
  directories_ = {"golf ball", "gas pump"};
  EXPECT_EQ(read("gas pump,station\ngolf ball,white\n"), (Names{"white", "station"}));
}

TEST_F(ClassNames, MissingDirectoryAndWrongNumberAreRefused) {
  EXPECT_TRUE(says(refusal("n01 tench\nn02 springer\nn3 church\n"), "'n03'"));
  EXPECT_TRUE(says(refusal("a\nb\n"), "has 2 names for 3 classes"));
  EXPECT_TRUE(says(refusal(""), "has 0 names"));
  EXPECT_TRUE(says(error_of([&] { read_class_names(folder_ / "no.txt", directories_); }),
                   "no.txt: cannot be opened"));
}

TEST_F(ClassNames, AreUsedByTheFolder) {
  make_pets(folder_ / "pets");
  write_text(folder_ / "names.txt", "dog Hund\ncat Katze\n");
  ImageFolderOptions options;
  options.class_names = (folder_ / "names.txt").string();
  const auto set = open_image_folder(folder_ / "pets", "", options);
  EXPECT_EQ(set->class_names(), (Names{"Katze", "Hund"}));
}

}  // namespace
}  // namespace sact::data
