// Tests of annotations made fit for training, and of folders that are read so.
#include "detect/detection_set.h"

#include <gtest/gtest.h>

#include <fstream>

#include "detect/detection_dataset.h"
#include "io/image.h"
#include "support/errors.h"
#include "support/temporary.h"

namespace sact::detect {
namespace {

using test::error_of;

void write_text(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class CocoSet : public testing::Test {
 protected:
  CocoSet() {
    instances_.categories = {{18, "dog"}, {1, "person"}};
    instances_.images = {{7, "a.jpg", {100, 200}}, {3, "sub/b.jpg", {50, 60}}};
    instances_.objects = {{11, 7, 18, {10, 20, 30, 40}, 900, false}};
    for (const char* file : {"a.jpg", "sub/b.jpg"}) write_text(folder_ / file, "");
  }
  DetectionSet set() { return make_detection_set(instances_, folder_.path()); }
  void add(const CocoBox& box) {
    instances_.objects.push_back(
        {int64_t(instances_.objects.size()) + 100, 7, 1, box, box.area(), false});
  }
  test::TemporaryDirectory folder_;
  CocoInstances instances_{.name = "i.json"};
};

TEST_F(CocoSet, CategoriesGoByTheirIdsAndImagesByTheFile) {
  const DetectionSet read = set();
  EXPECT_EQ(read.category_names(), (std::vector<std::string>{"person", "dog"}));
  ASSERT_EQ(read.truth.images.size(), 2u);
  ASSERT_EQ(read.objects.size(), 2u);
  EXPECT_EQ(read.path(0), folder_ / "a.jpg");
  EXPECT_EQ(read.truth.images[1].id, 3);
  EXPECT_TRUE(read.objects[1].empty());  // images without objects stay
  ASSERT_EQ(read.objects[0].size(), 1u);
  EXPECT_EQ(read.objects[0][0].box, (Box{10, 20, 40, 60}));
  EXPECT_EQ(read.objects[0][0].label, 1);
  EXPECT_FALSE(read.objects[0][0].crowd);
  EXPECT_TRUE(read.repairs.lines().empty());
}

TEST_F(CocoSet, NamesThatLeadOutOfTheFolderAreRefused) {
  test::TemporaryDirectory elsewhere;
  write_text(elsewhere / "a.jpg", "");
  const std::string outside = elsewhere / "a.jpg";
  const std::string up = "../" + std::filesystem::path(elsewhere.path()).filename().string();
  const std::vector<std::string> names = {outside, up + "/a.jpg", "sub/../../a.jpg", "sub/../a.jpg",
                                          std::string("a.jpg\0.png", 10)};
  for (const std::string& name : names) {
    instances_.images[1].file_name = name;
    const std::string message = error_of([&] { set(); });
    EXPECT_TRUE(says(message, "i.json: image 3: names the file '")) << message;
    EXPECT_TRUE(says(message, "not below")) << message;
  }
  std::filesystem::create_directory_symlink(elsewhere.path(), folder_ / "link");
  for (const std::string name : {"link/a.jpg", "sub/..b.jpg", "./a.jpg"}) {
    write_text(folder_ / "sub/..b.jpg", "");
    instances_.images[1].file_name = name;
    EXPECT_EQ(set().truth.images.size(), 2u) << name;
  }
}

TEST_F(CocoSet, CrowdsStay) {
  instances_.objects[0].crowd = true;
  EXPECT_TRUE(set().objects[0][0].crowd);
}

TEST_F(CocoSet, BoxesThatReachOutsideAreClippedAndCounted) {
  add({-5, -6, 30, 40});
  add({190, 90, 30, 40});
  add({199.5, 50, 1, 1});  // half a pixel is nobody's mistake
  const DetectionSet read = set();
  ASSERT_EQ(read.objects[0].size(), 4u);
  EXPECT_EQ(read.objects[0][1].box, (Box{0, 0, 25, 34}));
  EXPECT_EQ(read.objects[0][2].box, (Box{190, 90, 200, 100}));
  EXPECT_EQ(read.objects[0][3].box, (Box{199.5, 50, 200, 51}));
  EXPECT_EQ(read.truth.objects[1].box, (CocoBox{-5, -6, 30, 40}));  // evaluation takes it as it is
  EXPECT_EQ(read.repairs.clipped, 2);
  ASSERT_EQ(read.repairs.lines().size(), 1u);
  EXPECT_EQ(read.repairs.lines()[0],
            "2 boxes reach beyond their images and are clipped; the first: i.json: object 101 in "
            "a.jpg: the box -5,-6,25,34 in 200x100 pixels");
}

TEST_F(CocoSet, BoxesWithoutAreaAreDroppedAndCounted) {
  add({50, 50, 0, 10});
  add({300, 50, 10, 10});
  add({-20, 50, 20, 10});
  const DetectionSet read = set();
  EXPECT_EQ(read.objects[0].size(), 1u);
  EXPECT_EQ(read.truth.objects.size(), 4u);
  EXPECT_EQ(read.repairs.dropped, 3);
  EXPECT_EQ(read.repairs.clipped, 0);
  EXPECT_EQ(read.repairs.lines()[0],
            "3 boxes have no area in their images and are not learned from; the first: i.json: "
            "object 101 in a.jpg: the box 50,50,50,60 in 200x100 pixels");
}

TEST_F(CocoSet, MissingImagesAreLeftOutUnlessAllAre) {
  std::filesystem::remove(folder_ / "a.jpg");
  instances_.objects.push_back({12, 3, 18, {1, 2, 3, 4}, 12, false});
  const DetectionSet read = set();
  ASSERT_EQ(read.truth.images.size(), 1u);
  EXPECT_EQ(read.truth.images[0].id, 3);
  ASSERT_EQ(read.truth.objects.size(), 1u);  // that of the other image went with it
  EXPECT_EQ(read.truth.objects[0].id, 12);
  EXPECT_EQ(read.objects[0].size(), 1u);
  EXPECT_EQ(read.repairs.missing_images, 1);
  EXPECT_EQ(read.repairs.lines()[0],
            "1 image is not there and is left out; the first: " + (folder_ / "a.jpg").string());
  std::filesystem::remove(folder_ / "sub/b.jpg");
  EXPECT_EQ(error_of([&] { set(); }),
            "i.json: none of its 2 images is there; the first is expected at " +
                (folder_ / "a.jpg").string());
}

TEST_F(CocoSet, WhatTrainingNeedsMustBeGiven) {
  instances_.images[1].size = {};
  EXPECT_EQ(error_of([&] { set(); }),
            "i.json: images[1] (id 3) has no 'width' and 'height', which is needed here");
  instances_.images[0].file_name.clear();
  EXPECT_EQ(error_of([&] { set(); }),
            "i.json: images[0] (id 7) has no 'file_name', which is needed here");
  instances_.categories.clear();
  EXPECT_EQ(error_of([&] { set(); }), "i.json: has no categories");
  instances_.images.clear();
  EXPECT_EQ(error_of([&] { set(); }), "i.json: has no images");
}

TEST(CocoBoxes, HaveCornersAndBack) {
  EXPECT_EQ(box_of(CocoBox{10, 20, 30, 40}), (Box{10, 20, 40, 60}));
  EXPECT_EQ(coco_box(Box{10, 20, 40, 60}), (CocoBox{10, 20, 30, 40}));
}

class Folders : public testing::Test {
 protected:
  void write_picture(const std::string& name) {
    std::filesystem::create_directories((folder_ / name).parent_path());
    io::write_image(folder_ / name, io::RgbImage(20, 10));
  }
  std::unique_ptr<DetectionDataset> open(const std::string& split) {
    return open_detection_dataset(folder_.path().string(), split);
  }
  test::TemporaryDirectory folder_;
};

TEST_F(Folders, CocosHaveASplitForEachFileOfAnnotations) {
  write_picture("val2017/a.png");
  write_picture("val2017/b.png");
  const CocoInstances instances{.name = "",
                                .categories = {{5, "dog"}, {2, "cat"}},
                                .images = {{7, "b.png", {10, 20}}, {4, "a.png", {10, 30}}},
                                .objects = {{1, 7, 5, {2, 3, 100, 5}, 10, false}}};
  std::filesystem::create_directories(folder_ / "annotations");
  write_coco_instances(folder_ / "annotations/instances_val2017.json", instances);
  testing::internal::CaptureStderr();
  const auto dataset = open("val2017");
  EXPECT_TRUE(says(testing::internal::GetCapturedStderr(), "warning: 1 box reaches beyond"));
  EXPECT_EQ(dataset->size(), 2);
  EXPECT_EQ(dataset->class_names(), (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(dataset->name(0), (folder_ / "val2017/b.png").string());
  ASSERT_EQ(dataset->objects(0).size(), 1u);
  EXPECT_EQ(dataset->objects(0)[0].box, (Box{2, 3, 20, 8}));
  EXPECT_EQ(dataset->objects(0)[0].label, 1);
  EXPECT_TRUE(dataset->objects(1).empty());
  EXPECT_EQ(dataset->load(0, 0).width, 20);
  EXPECT_TRUE(says(error_of([&] { dataset->load(1, 0); }), "but its annotation says 30x10"));
  EXPECT_EQ(dataset->truth().objects[0].box, (CocoBox{2, 3, 100, 5}));
}

TEST_F(Folders, OfPascalVocHaveASplitForEachList) {
  write_picture("JPEGImages/1.png");
  write_text(folder_ / "ImageSets/Main/trainval.txt", "1\n");
  write_text(folder_ / "Annotations/1.xml",
             "<annotation><size><width>20</width><height>10</height></size><object><name>cat</name>"
             "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>5</xmax><ymax>6</ymax></bndbox></object>"
             "</annotation>");
  const auto dataset = open("trainval");
  EXPECT_EQ(dataset->size(), 1);
  EXPECT_EQ(dataset->name(0), (folder_ / "JPEGImages/1.png").string());
  EXPECT_EQ(dataset->objects(0)[0].box, (Box{0, 1, 5, 6}));
  EXPECT_TRUE(says(error_of([&] { open("test"); }), "test: there is no such list of images"));
}

TEST_F(Folders, OfAnotherKindAreRefused) {
  EXPECT_TRUE(
      says(error_of([&] { open("val2017"); }), "has no annotations/instances_val2017.json"));
  EXPECT_TRUE(says(error_of([&] { open_detection_dataset((folder_ / "no").string(), "val"); }),
                   "there is no such folder"));
}

}  // namespace
}  // namespace sact::detect
