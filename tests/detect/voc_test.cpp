// Tests of Pascal VOC's folders as detection sets.
#include "detect/voc.h"

#include <gtest/gtest.h>

#include <fstream>

#include "detect/detection_set.h"
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
    return make_detection_set(read_voc({root_.path(), list, names}), root_.path());
  }
  std::string refusal(const std::string& objects) {
    add_image("000002", objects);
    return error_of([&] { set(); });
  }
  test::TemporaryDirectory root_;
};

TEST_F(VocSet, ListsDoNotLeadOutOfTheFolder) {
  for (const std::string name : {"../../000001", "/000001", "a/../000001"}) {
    write_text(root_ / "ImageSets/Main/bad.txt", "000002\n" + name + " 1\n");
    const std::string message = error_of([&] { set("bad"); });
    EXPECT_TRUE(says(message, "bad.txt: names the image '" + name + "'")) << message;
  }
}

TEST_F(VocSet, PixelsCountFromOneAndTheLastIsIncluded) {
  const DetectionSet read = set();
  EXPECT_EQ(read.category_names(), (std::vector<std::string>{"cat", "dog"}));
  ASSERT_EQ(read.objects.size(), 3u);
  EXPECT_EQ(read.path(0), root_ / "JPEGImages/000001.jpg");
  EXPECT_EQ(read.truth.images[0].size, (Size{100, 200}));
  ASSERT_EQ(read.objects[0].size(), 2u);
  EXPECT_EQ(read.objects[0][0].box, (Box{0, 0, 200, 100}));
  EXPECT_EQ(read.objects[0][0].label, 0);
  EXPECT_FALSE(read.objects[0][0].crowd);
  EXPECT_EQ(read.objects[0][1].box, (Box{4, 4, 5, 9}));  // one pixel wide
  EXPECT_EQ(read.truth.objects[1].area, 5);
  EXPECT_TRUE(read.objects[0][1].crowd);  // difficult
  EXPECT_EQ(read.objects[1][0].box, (Box{10, 20, 40, 60}));
  EXPECT_TRUE(read.objects[2].empty());
  EXPECT_TRUE(read.repairs.lines().empty());
}

TEST_F(VocSet, IdsCountFromOne) {
  const CocoInstances read = read_voc({root_.path()});
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read.images[i].id, int64_t(i) + 1);
    EXPECT_EQ(read.objects[i].id, int64_t(i) + 1);
  }
  EXPECT_EQ(read.objects[1].image_id, 1);
  EXPECT_EQ(read.objects[2].image_id, 2);
  EXPECT_EQ(read.categories[0].id, 1);
  EXPECT_EQ(read.objects[2].category_id, 2);
}

TEST_F(VocSet, ListsChooseAndOrderImages) {
  write_text(root_ / "ImageSets/Main/val.txt", "000003\n\n000002  -1\r\n");
  const DetectionSet read = set("val");
  ASSERT_EQ(read.objects.size(), 2u);
  EXPECT_EQ(read.path(0).stem(), "000003");
  EXPECT_EQ(read.path(1).stem(), "000002");
  EXPECT_EQ(set((root_ / "ImageSets/Main/val.txt").string()).objects.size(), 2u);
  write_text(root_ / "ImageSets/few.txt", "000003");
  EXPECT_EQ(set("few").objects.size(), 1u);
  // All lists of a folder have the same categories, and are not harmed by what they do not name.
  write_text(root_ / "Annotations/damaged.xml", "<annotation>");
  EXPECT_EQ(set("few").category_names(), (std::vector<std::string>{"cat", "dog"}));
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
  EXPECT_EQ(read.objects[1][0].label, 0);
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
  ASSERT_EQ(read.objects[3].size(), 3u);
  EXPECT_EQ(read.objects[3][0].box, (Box{0, 0, 50, 50}));
  EXPECT_EQ(read.objects[3][1].box, (Box{149, 49, 200, 100}));
  EXPECT_EQ(read.repairs.clipped, 1);
  EXPECT_EQ(read.repairs.dropped, 1);
  EXPECT_TRUE(says(read.repairs.first_dropped,
                   "in JPEGImages/000004.jpg: the box 259,49,270,90 in 200x100 pixels"));
}

TEST_F(VocSet, PhotographsMayHaveOtherEndingsOrBeMissing) {
  std::filesystem::rename(root_ / "JPEGImages/000001.jpg", root_ / "JPEGImages/000001.PNG");
  std::filesystem::remove(root_ / "JPEGImages/000003.jpg");
  const DetectionSet read = set();
  ASSERT_EQ(read.objects.size(), 2u);
  EXPECT_EQ(read.path(0).filename(), "000001.PNG");
  EXPECT_EQ(read.repairs.missing_images, 1);
}

TEST_F(VocSet, OtherFoldersAreRefused) {
  EXPECT_TRUE(says(error_of([&] { read_voc({root_ / "JPEGImages"}); }),
                   "expected the layout of Pascal VOC"));
  write_text(root_ / "empty/Annotations/readme.txt", "");
  EXPECT_TRUE(says(error_of([&] { read_voc({root_ / "empty"}); }), "has no XML files"));
}

}  // namespace
}  // namespace sact::detect
