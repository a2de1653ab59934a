// Tests of detection sets from COCO annotations and from Pascal VOC's folders.
#include "detect/detection_set.h"

#include <gtest/gtest.h>

#include <fstream>

#include "detect/voc.h"
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
  DetectionSet set() { return detection_set_of(instances_, folder_.path()); }
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
  ASSERT_EQ(read.images.size(), 2u);
  EXPECT_EQ(read.images[0].path, folder_ / "a.jpg");
  EXPECT_EQ(read.images[0].size, (Size{100, 200}));
  EXPECT_EQ(read.images[1].id, 3);
  EXPECT_TRUE(read.images[1].objects.empty());  // images without objects stay
  ASSERT_EQ(read.images[0].objects.size(), 1u);
  const DetectionObject& object = read.images[0].objects[0];
  EXPECT_EQ(object.box, (Box{10, 20, 40, 60}));
  EXPECT_EQ(object.category, 1);
  EXPECT_EQ(object.area, 900);
  EXPECT_EQ(object.id, 11);
  EXPECT_EQ(read.object_count(), 1);
  EXPECT_TRUE(read.repairs.lines().empty());
}

TEST_F(CocoSet, CrowdsStay) {
  instances_.objects[0].crowd = true;
  EXPECT_TRUE(set().images[0].objects[0].crowd);
}

TEST_F(CocoSet, BoxesThatReachOutsideAreClippedAndCounted) {
  add({-5, -6, 30, 40});
  add({190, 90, 30, 40});
  add({199.5, 50, 1, 1});  // half a pixel is nobody's mistake
  const DetectionSet read = set();
  ASSERT_EQ(read.images[0].objects.size(), 4u);
  EXPECT_EQ(read.images[0].objects[1].box, (Box{0, 0, 25, 34}));
  EXPECT_EQ(read.images[0].objects[2].box, (Box{190, 90, 200, 100}));
  EXPECT_EQ(read.images[0].objects[3].box, (Box{199.5, 50, 200, 51}));
  EXPECT_EQ(read.repairs.clipped, 2);
  ASSERT_EQ(read.repairs.lines().size(), 1u);
  EXPECT_EQ(read.repairs.lines()[0],
            "2 boxes reach beyond the image and are clipped; the first: i.json: annotations[1] (id "
            "101): the box -5,-6,25,34 in the 200x100 image");
}

TEST_F(CocoSet, BoxesWithoutAreaAreDroppedAndCounted) {
  add({50, 50, 0, 10});
  add({300, 50, 10, 10});
  add({-20, 50, 20, 10});
  const DetectionSet read = set();
  EXPECT_EQ(read.object_count(), 1);
  EXPECT_EQ(read.repairs.dropped, 3);
  EXPECT_EQ(read.repairs.clipped, 0);
  EXPECT_EQ(read.repairs.lines()[0],
            "3 boxes have no area inside of the image and are left out; the first: i.json: "
            "annotations[1] (id 101): the box 50,50,50,60 in the 200x100 image");
}

TEST_F(CocoSet, MissingImagesAreLeftOutUnlessAllAre) {
  std::filesystem::remove(folder_ / "a.jpg");
  const DetectionSet read = set();
  ASSERT_EQ(read.images.size(), 1u);
  EXPECT_EQ(read.images[0].id, 3);
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

TEST_F(CocoSet, BecomesAnnotationsAgain) {
  instances_.objects[0].crowd = true;
  const CocoInstances again = coco_instances_of(set(), folder_.path());
  ASSERT_EQ(again.images.size(), 2u);
  EXPECT_EQ(again.images[1].file_name, "sub/b.jpg");
  EXPECT_EQ(again.images[0].size, (Size{100, 200}));
  ASSERT_EQ(again.objects.size(), 1u);
  EXPECT_EQ(again.objects[0].id, 11);
  EXPECT_EQ(again.objects[0].image_id, 7);
  EXPECT_EQ(again.objects[0].category_id, 18);
  EXPECT_EQ(again.objects[0].box, (CocoBox{10, 20, 30, 40}));
  EXPECT_EQ(again.objects[0].area, 900);
  EXPECT_TRUE(again.objects[0].crowd);
  EXPECT_EQ(coco_instances_of(set()).images[0].file_name, (folder_ / "a.jpg").string());
}

class VocSet : public testing::Test {
 protected:
  VocSet() {
    add_image("000002", object("dog", "11", "21", "40", "60"));
    add_image("000001", object("cat", "1", "1", "200", "100") +
                            object("dog", "5", "5", "5", "9", "<difficult>1</difficult>"));
    add_image("000003", "");
  }
  static std::string object(const std::string& name, const std::string& x0, const std::string& y0,
                            const std::string& x1, const std::string& y1,
                            const std::string& more = "") {
    return "<object><bndbox><xmin>" + x0 + "</xmin><ymin>" + y0 + "</ymin><xmax>" + x1 +
           "</xmax><ymax>" + y1 + "</ymax></bndbox>" + more + "<name> " + name +
           " </name></object>\n";
  }
  void add_image(const std::string& name, const std::string& objects) {
    write_text(root_ / ("JPEGImages/" + name + ".jpg"), "");
    write_text(root_ / ("Annotations/" + name + ".xml"),
               "<annotation><filename>x.jpg</filename><size><width>200</width><height>100</height>"
               "</size>\n" +
                   objects + "</annotation>");
  }
  DetectionSet set(const std::string& list = "", const std::vector<std::string>& names = {}) {
    return open_voc({root_.path(), list, names});
  }
  std::string refusal(const std::string& objects) {
    add_image("000002", objects);
    return error_of([&] { set(); });
  }
  test::TemporaryDirectory root_;
};

TEST_F(VocSet, PixelsCountFromOneAndTheLastIsIncluded) {
  const DetectionSet read = set();
  EXPECT_EQ(read.category_names(), (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(read.categories[0].id, 1);
  ASSERT_EQ(read.images.size(), 3u);
  EXPECT_EQ(read.images[0].path, root_ / "JPEGImages/000001.jpg");
  EXPECT_EQ(read.images[0].size, (Size{100, 200}));
  ASSERT_EQ(read.images[0].objects.size(), 2u);
  EXPECT_EQ(read.images[0].objects[0].box, (Box{0, 0, 200, 100}));
  EXPECT_EQ(read.images[0].objects[0].category, 0);
  EXPECT_FALSE(read.images[0].objects[0].crowd);
  EXPECT_EQ(read.images[0].objects[1].box, (Box{4, 4, 5, 9}));  // one pixel wide
  EXPECT_EQ(read.images[0].objects[1].area, 5);
  EXPECT_TRUE(read.images[0].objects[1].crowd);  // difficult
  EXPECT_EQ(read.images[1].objects[0].box, (Box{10, 20, 40, 60}));
  EXPECT_TRUE(read.images[2].objects.empty());
  EXPECT_TRUE(read.repairs.lines().empty());
}

TEST_F(VocSet, IdsAreUnique) {
  const DetectionSet read = set();
  EXPECT_EQ(read.images[0].id, 1);
  EXPECT_EQ(read.images[2].id, 3);
  EXPECT_EQ(read.images[0].objects[1].id, 2);
  EXPECT_EQ(read.images[1].objects[0].id, 3);
}

TEST_F(VocSet, ListsChooseAndOrderImages) {
  write_text(root_ / "ImageSets/Main/val.txt", "000003\n\n000002  -1\r\n");
  const DetectionSet read = set("val");
  ASSERT_EQ(read.images.size(), 2u);
  EXPECT_EQ(read.images[0].path.stem(), "000003");
  EXPECT_EQ(read.images[1].path.stem(), "000002");
  EXPECT_EQ(set((root_ / "ImageSets/Main/val.txt").string()).images.size(), 2u);
  write_text(root_ / "ImageSets/few.txt", "000001");
  EXPECT_EQ(set("few").images.size(), 1u);
}

TEST_F(VocSet, WrongListsAreRefused) {
  EXPECT_TRUE(says(error_of([&] { set("no"); }), "no: there is no such list of images"));
  write_text(root_ / "ImageSets/Main/a.txt", "000001\n000009\n");
  EXPECT_TRUE(says(error_of([&] { set("a"); }), "Annotations/000009.xml: cannot be opened"));
  write_text(root_ / "ImageSets/Main/a.txt", "000001\n000001\n");
  EXPECT_TRUE(says(error_of([&] { set("a"); }), "a.txt: has '000001' twice"));
  write_text(root_ / "ImageSets/Main/a.txt", "\n");
  EXPECT_TRUE(says(error_of([&] { set("a"); }), "a.txt: names no images"));
}

TEST_F(VocSet, CategoriesMayBeGiven) {
  const DetectionSet read = set("", {"dog", "horse", "cat"});
  EXPECT_EQ(read.category_names(), (std::vector<std::string>{"dog", "horse", "cat"}));
  EXPECT_EQ(read.images[1].objects[0].category, 0);
  EXPECT_TRUE(says(error_of([&] {
                     set("", {"dog", "horse"});
                   }),
                   "Annotations/000001.xml: has the category 'cat', which is not among those "
                   "given: dog and horse"));
  EXPECT_EQ(error_of([&] { set("", {"dog", "dog"}); }), "the category 'dog' is given twice");
}

TEST_F(VocSet, WrongAnnotationsAreRefusedByName) {
  EXPECT_TRUE(says(refusal(object("", "1", "1", "2", "2")),
                   "Annotations/000002.xml: an <object> has no <name>"));
  EXPECT_TRUE(says(refusal("<object><name>cat</name></object>"),
                   "000002.xml: an <object> has no <bndbox>"));
  EXPECT_TRUE(says(refusal(object("cat", "9", "1", "2", "2")),
                   "000002.xml: the box 9,1,2,2 is wrong: xmin must not be above xmax"));
  EXPECT_TRUE(
      says(refusal(object("cat", "1", "1", "1e300", "2")), "the box 1,1,1e+300,2 is wrong"));
  EXPECT_TRUE(says(refusal(object("cat", "nan", "1", "2", "2")), "'nan' and not a number"));
  EXPECT_TRUE(says(refusal("<object>"), "000002.xml: is not a usable annotation"));
  write_text(root_ / "Annotations/000002.xml", "<annotation></annotation>");
  EXPECT_TRUE(says(error_of([&] { set(); }), "000002.xml: gives no <size> of the image"));
}

TEST_F(VocSet, BoxesAreMendedAndCounted) {
  add_image("000004", object("cat", "0", "0", "50", "50") +           // counted from 0
                          object("cat", "150", "50", "201", "101") +  // off by one
                          object("cat", "150", "50", "260", "90") +
                          object("cat", "260", "50", "270", "90"));
  const DetectionSet read = set();
  ASSERT_EQ(read.images[3].objects.size(), 3u);
  EXPECT_EQ(read.images[3].objects[0].box, (Box{0, 0, 50, 50}));
  EXPECT_EQ(read.images[3].objects[1].box, (Box{149, 49, 200, 100}));
  EXPECT_EQ(read.repairs.clipped, 1);
  EXPECT_EQ(read.repairs.dropped, 1);
  EXPECT_TRUE(says(read.repairs.first_dropped, "000004.xml: the box 259,49,270,90 in the 200x100"));
}

TEST_F(VocSet, PhotographsMayHaveOtherEndingsOrBeMissing) {
  std::filesystem::rename(root_ / "JPEGImages/000001.jpg", root_ / "JPEGImages/000001.PNG");
  std::filesystem::remove(root_ / "JPEGImages/000003.jpg");
  const DetectionSet read = set();
  ASSERT_EQ(read.images.size(), 2u);
  EXPECT_EQ(read.images[0].path.filename(), "000001.PNG");
  EXPECT_EQ(read.repairs.missing_images, 1);
}

TEST_F(VocSet, OtherFoldersAreRefused) {
  EXPECT_TRUE(says(error_of([&] { open_voc({root_ / "JPEGImages"}); }),
                   "expected the layout of Pascal VOC"));
  write_text(root_ / "empty/Annotations/readme.txt", "");
  EXPECT_TRUE(says(error_of([&] { open_voc({root_ / "empty"}); }), "has no XML files"));
}

}  // namespace
}  // namespace sact::detect
