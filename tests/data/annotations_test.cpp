// Tests of bounding boxes from CSV tables and XML files, right and damaged ones.
#include "data/annotations.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "data/boxes_csv.h"
#include "data/image_folder.h"
#include "data/voc_xml.h"
#include "dataset_samples.h"

namespace sact::data {
namespace {

using namespace sact::test;

class Csv : public testing::Test {
 protected:
  auto read(std::string_view text) {
    write_text(folder_ / "boxes.csv", text);
    return read_boxes_csv(folder_ / "boxes.csv");
  }
  std::string refusal(std::string_view text) {
    return error_of([&] { read(text); });
  }
  TemporaryDirectory folder_;
};

TEST_F(Csv, ColumnsGoByTheHeaderAndFilesMayHaveSeveralBoxes) {
  const auto table = read(
      "x1,y1,file,colour,x0,y0\r\n"
      "30,40.5,a/1.png,red,10,20\r\n\r\n"
      "5,6,\"b/with, comma \"\"q\"\".png\",blue,1,2\r\n"
      "8,9,./a/1.png,green,0,1\r\n");
  ASSERT_EQ(table.size(), 2u);
  const auto& boxes = table.at("a/1.png").boxes;
  ASSERT_EQ(boxes.size(), 2u);
  EXPECT_EQ(boxes[0].x0, 10);
  EXPECT_EQ(boxes[0].y0, 20);
  EXPECT_EQ(boxes[0].x1, 30);
  EXPECT_EQ(boxes[0].y1, 40.5f);
  EXPECT_EQ(boxes[1].x1, 8);
  EXPECT_FALSE(table.at("a/1.png").has_size());
  EXPECT_EQ(table.at("b/with, comma \"q\".png").boxes[0].y0, 2);
}

TEST_F(Csv, WidthAndHeightAreTheImageThatThePixelsReferTo) {
  const auto table = read("file,x0,y0,x1,y1,width,height\na.png,1,2,3,4,100,50\n");
  EXPECT_EQ(table.at("a.png").image, (Size{50, 100}));
}

TEST_F(Csv, WrongRowsAreNamedByTheirLine) {
  const std::string header = "file,class,x0,y0,x1,y1\n";
  EXPECT_TRUE(says(refusal(header + "a,c,0,0,1,1\na,c,0,zero,1,1\n"),
                   "boxes.csv line 3: y0 must be a number, not 'zero'"));
  EXPECT_TRUE(says(refusal(header + "a,c,0,0,1\n"), "line 2: has 5 fields"));
  EXPECT_TRUE(says(refusal(header + ",c,0,0,1,1\n"), "line 2: the file is not named"));
  EXPECT_TRUE(says(refusal(header + "a,c,nan,0,1,1\n"), "line 2: x0"));
  EXPECT_TRUE(says(refusal(header + "a,c,0,0,1e999,1\n"), "line 2: x1"));
  EXPECT_TRUE(says(refusal(header + "a,c,9,0,3,1\n"), "left of its right edge"));
  EXPECT_TRUE(says(refusal(header + "a,c,0,5,3,5\n"), "above its lower edge"));
  EXPECT_TRUE(says(refusal(header + "a,c,-9,0,-3,1\n"), "outside of its image"));
  EXPECT_TRUE(says(refusal(header + "\"a,c,0,0,1,1\n"), "quote is not closed"));
}

TEST_F(Csv, WrongHeadersAreRefused) {
  EXPECT_TRUE(says(refusal(""), "is empty"));
  EXPECT_TRUE(says(refusal("a/1.png,cat,0,0,1,1\n"), "no column file"));
  EXPECT_TRUE(says(refusal("file,x0,x0,x1,y1\n"), "x0 is there twice"));
  EXPECT_TRUE(says(refusal("file,x0,y0,x1,y1,width\n"), "give both"));
  const std::string header = "file,x0,y0,x1,y1,width,height\n";
  EXPECT_TRUE(says(refusal(header + "a,0,0,1,1,0,5\n"), "width must be a whole number"));
  EXPECT_TRUE(says(refusal(header + "a,7,0,9,1,5,5\n"), "outside"));
  EXPECT_TRUE(says(refusal(header + "a,0,0,1,1,5,5\na,0,0,1,1,6,5\n"), "another size"));
}

constexpr std::string_view kXml = R"(<?xml version="1.0"?>
<!DOCTYPE annotation [ <!ENTITY a "aaaa"> ]>
<annotation verified="a > b">
  <filename>n01_1</filename>
  <object><name>tench</name>
    <bndbox><xmin>50</xmin><ymin> 20 </ymin><xmax>250</xmax><ymax>101</ymax></bndbox>
    <part><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></part>
  </object>
  <!-- <object><bndbox></bndbox></object> -->
  <object><truncated/>
    <bndbox><ymax>100</ymax><ymin>0</ymin><xmax>500.0</xmax><xmin>0</xmin></bndbox>
  </object>
  <size><width>500</width><height>100</height><depth>3</depth></size>
</annotation>
)";

TEST(VocXml, ObjectsAreReadPartsAndCommentsAreNot) {
  const Annotation annotation = parse_voc_xml(kXml, "a.xml");
  EXPECT_EQ(annotation.image, (Size{100, 500}));
  ASSERT_EQ(annotation.boxes.size(), 2u);
  EXPECT_EQ(annotation.boxes[0].x0, 50);
  EXPECT_EQ(annotation.boxes[0].y1, 101);
  EXPECT_EQ(annotation.boxes[1].x1, 500);
  // 101 of 100 rows is an author's slip of one pixel, not a wrong file.
  const auto boxes = normalized(annotation, {32, 32}, "a.jpg");
  EXPECT_EQ(boxes[0], (NormalizedBox{0.1f, 0.2f, 0.5f, 1}));
  EXPECT_EQ(boxes[1], (NormalizedBox{0, 0, 1, 1}));
}

TEST(VocXml, EveryTruncationIsRefusedInOneLine) {
  const std::string_view whole = kXml.substr(0, kXml.rfind('>') + 1);
  for (size_t length = 0; length < whole.size(); ++length) {
    const std::string message =
        error_of([&] { parse_voc_xml(whole.substr(0, length), "cut.xml"); });
    EXPECT_TRUE(says(message, "cut.xml: is not a usable annotation")) << length << ": " << message;
  }
}

TEST(VocXml, ChangedBytesNeverCrash) {
  const uint64_t seed = 20240607;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text(kXml);
    for (int i = 0; i < 3; ++i) {
      text[size_t(random.below(int64_t(text.size())))] = char(random.below(256));
    }
    try {
      for (const Box& box : parse_voc_xml(text, "changed.xml").boxes) {
        EXPECT_LT(box.x0, box.x1);
        EXPECT_LT(box.y0, box.y1);
      }
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 300);
}

TEST(VocXml, DamagedFilesAreRefusedWithTheReason) {
  auto refusal = [](std::string_view text) {
    return error_of([&] { parse_voc_xml(text, "x.xml"); });
  };
  auto boxed = [](std::string_view inside) {
    return "<annotation><size><width>10</width><height>10</height></size><object><bndbox>" +
           std::string(inside) + "</bndbox></object></annotation>";
  };
  const std::string low = "<xmin>1</xmin><ymin>1</ymin>";
  EXPECT_TRUE(says(refusal(""), "no <annotation>"));
  EXPECT_TRUE(says(refusal("just text"), "no <annotation>"));
  EXPECT_TRUE(says(refusal("<html></html>"), "starts with <html>"));
  EXPECT_TRUE(says(refusal("<annotation></annotation><annotation/>"), "more than one"));
  EXPECT_TRUE(says(refusal("<annotation><a></b></annotation>"), "mismatch (at byte"));
  EXPECT_TRUE(says(refusal("</annotation>"), "mismatch"));
  EXPECT_TRUE(says(refusal("<annotation>< ></annotation>"), "tag type"));
  EXPECT_TRUE(says(refusal(boxed(low + "<xmax>5</xmax>")), "no <ymax>"));
  EXPECT_TRUE(says(refusal(boxed(low + "<xmax>5</xmax><ymax>five</ymax>")), "'five'"));
  EXPECT_TRUE(says(refusal(boxed(low + "<xmax>5</xmax><ymax/>")), "not a number"));
  EXPECT_TRUE(says(refusal(boxed(low + "<xmax>0</xmax><ymax>5</ymax>")), "left of"));
  EXPECT_TRUE(says(refusal(boxed("<xmin>10</xmin><ymin>1</ymin><xmax>12</xmax><ymax>5</ymax>")),
                   "outside of its 10x10 image"));
  EXPECT_TRUE(says(refusal("<annotation><size><width>1e9</width></size></annotation>"), "width"));
  std::string deep = "<annotation>", end = "</annotation>";
  for (int i = 0; i < 100000; ++i) deep += "<a>", end = "</a>" + end;
  EXPECT_TRUE(says(refusal(deep + end), "nest deeper"));
}

TEST(VocXml, NamesMayHoldWhatXmlWritesInItsOwnWay) {
  const auto objects = parse_voc_objects(
      "<annotation><object><name>black &amp; <![CDATA[tan]]></name></object><object><name>"
      "<![CDATA[<b>]]></name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax>"
      "</bndbox></object></annotation>",
      "a.xml");
  EXPECT_EQ(objects.objects_without_box, 1);
  ASSERT_EQ(objects.objects.size(), 1u);
  EXPECT_EQ(objects.objects[0].name, "<b>");
}

TEST(VocXml, EntitiesOfTheFilesOwnAreNeverExpanded) {
  std::string bomb = "<!DOCTYPE annotation [<!ENTITY a0 \"xxxxxxxxxx\">";
  for (int i = 1; i < 20; ++i) {
    bomb += "<!ENTITY a" + std::to_string(i) + " \"";
    for (int k = 0; k < 10; ++k) bomb += "&a" + std::to_string(i - 1) + ";";
    bomb += "\">";
  }
  bomb +=
      "]><annotation><object><name>&a19;</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax>"
      "<ymax>2</ymax></bndbox></object></annotation>";
  EXPECT_EQ(parse_voc_objects(bomb, "a.xml").objects.at(0).name, "&a19;");
}

TEST(Annotations, WithoutASizePixelsAreThoseOfTheDecodedImage) {
  const Annotation annotation{{}, {{-2, 4, 8, 30}}};
  EXPECT_EQ(normalized(annotation, {20, 16}, "a")[0], (NormalizedBox{0, 0.2f, 0.5f, 1}));
  EXPECT_TRUE(says(error_of([&] {
                     normalized(annotation, {4, 16}, "a.png");
                   }),
                   "a.png: the box -2,4,8,30 lies outside of the 16x4 image"));
}

TEST(Annotations, MadeForATurnedImageDoNotApply) {
  const Annotation annotation{{100, 50}, {{0, 0, 10, 10}}};
  EXPECT_TRUE(normalized(annotation, {50, 100}, "a").empty());
  EXPECT_EQ(normalized(annotation, {64, 64}, "a").size(), 1u);
}

class FolderBoxes : public testing::Test {
 protected:
  FolderBoxes() {
    for (const char* file : {"train/cat/1.png", "train/dog/1.png", "val/cat/1.png"}) {
      write_plain(root_ / file, 20, 10, 1);
    }
  }
  std::vector<NormalizedBox> boxes(const std::string& split, int64_t index,
                                   const std::string& source = "") {
    ImageFolderOptions options;
    options.boxes = source;
    return open_image_folder(root_.path(), split, options)->load(index).boxes;
  }
  TemporaryDirectory root_, other_;
};

constexpr const char* kHeader = "file,class,x0,y0,x1,y1\n";

TEST_F(FolderBoxes, TableInTheRootNamesFilesWithTheirSplit) {
  write_text(root_ / "boxes.csv", std::string(kHeader) + "train/dog/1.png,dog,5,0,20,5\n");
  EXPECT_TRUE(boxes("train", 0).empty());
  ASSERT_EQ(boxes("train", 1).size(), 1u);
  EXPECT_EQ(boxes("train", 1)[0], (NormalizedBox{0.25f, 0, 1, 0.5f}));
  EXPECT_TRUE(boxes("val", 0).empty());
  EXPECT_TRUE(boxes("train", 1, "none").empty());
}

TEST_F(FolderBoxes, TableInASplitIsAboutThatSplitOnly) {
  write_text(root_ / "train/boxes.csv", std::string(kHeader) + "cat/1.png,cat,5,0,20,5\n");
  EXPECT_EQ(boxes("train", 0).size(), 1u);
  const std::string table = (root_ / "train/boxes.csv").string();
  EXPECT_TRUE(says(error_of([&] { boxes("val", 0, table); }), "none of its files (cat/1.png)"));
}

TEST_F(FolderBoxes, TableElsewhereIsRelativeToTheRoot) {
  write_text(other_ / "t.csv", std::string(kHeader) + "val/cat/1.png,cat,5,0,20,5\n");
  EXPECT_EQ(boxes("val", 0, (other_ / "t.csv").string()).size(), 1u);
}

TEST_F(FolderBoxes, DamagedTableThatLiesThereIsNotPassedOver) {
  write_text(root_ / "boxes.csv", std::string(kHeader) + "train/dog/1.png,dog,5,0,2,5\n");
  EXPECT_TRUE(says(error_of([&] { boxes("train", 0); }), "boxes.csv line 2"));
}

TEST_F(FolderBoxes, XmlIsFoundByClassBySplitAndByName) {
  const std::string xml =
      "<annotation><object><bndbox><xmin>0</xmin><ymin>0</ymin><xmax>10</xmax><ymax>10</ymax>"
      "</bndbox></object></annotation>";
  write_text(other_ / "train/cat/1.xml", xml);
  write_text(other_ / "dog/1.xml", xml);
  EXPECT_EQ(boxes("train", 0, other_.path().string())[0], (NormalizedBox{0, 0, 0.5f, 1}));
  EXPECT_EQ(boxes("train", 1, other_.path().string()).size(), 1u);
  write_plain(root_ / "val/cat/val_0001.png", 4, 4, 1);
  write_text(other_ / "val/val_0001.xml", xml);
  EXPECT_EQ(boxes("val", 1, other_.path().string()).size(), 1u);
}

TEST_F(FolderBoxes, DamagedXmlIsCountedAndItsImageHasNoBox) {
  write_text(other_ / "cat/1.xml", "<annotation><object>");
  write_text(other_ / "dog/1.xml", std::string(kXml));
  CaptureStderr();
  const auto cat = boxes("train", 0, other_.path().string());
  const std::string output = GetCapturedStderr();
  EXPECT_TRUE(cat.empty());
  EXPECT_TRUE(says(output, "warning: not used: 1 annotation in ")) << output;
  EXPECT_TRUE(says(output, "cat/1.xml")) << output;
}

TEST_F(FolderBoxes, SourcesWithoutAnyBoxAreRefused) {
  EXPECT_TRUE(says(error_of([&] { boxes("train", 0, (other_ / "no").string()); }), "no such"));
  EXPECT_TRUE(says(error_of([&] { boxes("train", 0, other_.path().string()); }), "no box"));
  write_text(other_ / "cat/1.xml", "");
  EXPECT_TRUE(says(error_of([&] { boxes("train", 0, other_.path().string()); }), "cat/1.xml"));
}

}  // namespace
}  // namespace sact::data
