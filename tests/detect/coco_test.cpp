// Tests of COCO's files: reading, writing, and what is wrong with damaged ones.
#include "detect/coco.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/random.h"
#include "support/errors.h"
#include "support/temporary.h"

namespace sact::detect {
namespace {

using test::error_of;

constexpr std::string_view kInstances = R"({
  "info": {"year": 2017, "images": [1]},
  "images": [
    {"license": 3, "file_name": "a.jpg", "height": 426, "width": 640, "id": 7},
    {"id": 9}],
  "annotations": [
    {"segmentation": [[1.5, 2, 3, 4, 5, 6]], "area": 21.5, "iscrowd": 0, "image_id": 7,
     "bbox": [10.25, 20, 30, 40.5], "category_id": 18, "id": 508910},
    {"segmentation": {"counts": [1, 2, 3], "size": [426, 640]}, "area": 5, "iscrowd": 1,
     "image_id": 7, "bbox": [0, 0, 640, 426], "category_id": 1, "id": 3},
    {"image_id": 9, "bbox": [1, 2, 3, 4], "category_id": 1, "id": 4}],
  "categories": [{"supercategory": "animal", "id": 18, "name": "dog"}, {"id": 1, "name": "person"}]
})";

TEST(CocoInstances, AreReadInTheOrderOfTheFile) {
  const CocoInstances read = parse_coco_instances(kInstances, "i.json");
  ASSERT_EQ(read.images.size(), 2u);
  EXPECT_EQ(read.images[0].id, 7);
  EXPECT_EQ(read.images[0].file_name, "a.jpg");
  EXPECT_EQ(read.images[0].size, (Size{426, 640}));
  EXPECT_EQ(read.images[1].size, Size{});
  ASSERT_EQ(read.categories.size(), 2u);
  EXPECT_EQ(read.categories[0].id, 18);
  EXPECT_EQ(read.categories[0].name, "dog");
  ASSERT_EQ(read.objects.size(), 3u);
  EXPECT_EQ(read.objects[0].id, 508910);
  EXPECT_EQ(read.objects[0].image_id, 7);
  EXPECT_EQ(read.objects[0].category_id, 18);
  EXPECT_EQ(read.objects[0].box, (CocoBox{10.25, 20, 30, 40.5}));
  EXPECT_EQ(read.objects[0].area, 21.5);
  EXPECT_FALSE(read.objects[0].crowd);
  EXPECT_TRUE(read.objects[1].crowd);
  EXPECT_EQ(read.objects[2].area, 12);  // none given: that of the box
  EXPECT_FALSE(read.objects[2].crowd);
}

/// The file with one piece of text in the place of another.
std::string changed(std::string_view from, std::string_view to) {
  std::string text(kInstances);
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string refusal(std::string_view from, std::string_view to) {
  return error_of([&] { parse_coco_instances(changed(from, to), "i.json"); });
}

TEST(CocoInstances, WrongEntriesAreRefusedByName) {
  EXPECT_EQ(
      refusal("\"category_id\": 18, \"id\": 508910", "\"category_id\": 19, \"id\": 508910"),
      "i.json: annotations[0] (id 508910): 'category_id' is 19, but 'categories' has no entry "
      "with that id");
  EXPECT_EQ(
      refusal("\"image_id\": 9", "\"image_id\": 8"),
      "i.json: annotations[2] (id 4): 'image_id' is 8, but 'images' has no entry with that id");
  EXPECT_EQ(refusal("[10.25, 20, 30, 40.5]", "[10.25, 20, -30, 40.5]"),
            "i.json: annotations[0] (id 508910): 'bbox' is 10.25, 20, -30, 40.5; width and height "
            "must not be negative");
  EXPECT_EQ(refusal("[10.25, 20, 30, 40.5]", "[1e12, 20, 30, 40.5]"),
            "i.json: annotations[0] (id 508910): 'bbox' is 1e+12, 20, 30, 40.5, which is absurdly "
            "large");
  EXPECT_EQ(refusal("[10.25, 20, 30, 40.5]", "[10.25, 20, 30]"),
            "i.json: annotations[0]: 'bbox' must be a list of four numbers; it is a list of 3");
  EXPECT_EQ(
      refusal("[10.25, 20, 30, 40.5]", "[10.25, NaN, 30, 40.5]"),
      "i.json: is not valid JSON in annotations[0] (near byte 282 of 666); JSON has no NaN and "
      "no infinity");
  EXPECT_EQ(refusal("\"area\": 21.5", "\"area\": -1"),
            "i.json: annotations[0] (id 508910): 'area' is -1; it must not be negative");
  EXPECT_EQ(refusal("\"iscrowd\": 1", "\"iscrowd\": 7"),
            "i.json: annotations[1]: 'iscrowd' must be 0 or 1; it is 7");
  EXPECT_EQ(refusal("\"id\": 4", "\"id\": 3"),
            "i.json: annotations[2] has the id 3, which another entry before it has");
  EXPECT_EQ(refusal("{\"id\": 9}", "{\"id\": 7}"),
            "i.json: images[1] has the id 7, which another entry before it has");
  EXPECT_EQ(refusal("\"id\": 18,", "\"id\": 1,"),
            "i.json: categories[1] has the id 1, which another entry before it has");
  EXPECT_EQ(refusal("\"name\": \"dog\"", "\"name\": 5"),
            "i.json: categories[0]: 'name' must be text; it is 5");
  EXPECT_EQ(refusal("\"width\": 640", "\"width\": 0"),
            "i.json: images[0]: 'width' must be from 1 to 1000000; it is 0");
  EXPECT_EQ(refusal("\"width\": 640,", ""),
            "i.json: images[0]: 'width' must be a whole number; it is missing");
  EXPECT_EQ(refusal("\"id\": 508910", "\"id\": \"508910\""),
            "i.json: annotations[0]: 'id' must be a whole number; it is the text '508910'");
  EXPECT_EQ(refusal("\"categories\"", "\"classes\""), "i.json: has no list 'categories'");
}

TEST(CocoInstances, EveryTruncationIsRefused) {
  for (size_t length = 0; length < kInstances.size(); ++length) {
    const std::string message =
        error_of([&] { parse_coco_instances(kInstances.substr(0, length), "cut.json"); });
    EXPECT_TRUE(message.starts_with("cut.json: is not valid JSON")) << length << ": " << message;
  }
}

TEST(CocoInstances, ChangedBytesNeverCrash) {
  const uint64_t seed = 20240704;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text(kInstances);
    for (int i = 0; i < 3; ++i) {
      text[size_t(random.below(int64_t(text.size())))] = char(random.below(256));
    }
    try {
      for (const CocoObject& object : parse_coco_instances(text, "changed").objects) {
        EXPECT_GE(object.box.width, 0);
        EXPECT_GE(object.area, 0);
      }
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(CocoInstances, WhatWasWrittenIsRead) {
  CocoInstances written{.name = ""};
  written.categories = {{1, "a \"quoted\" \\ name\n"}, {5, ""}};
  written.images = {{-3, "folder/\xc3\xa9.jpg", {10, 20}}, {4, "", {}}};
  written.objects = {{1, -3, 5, {0.1, 1.0 / 3, 1e-7, 123456.789}, 0.25, true},
                     {2, 4, 1, {-5, 0, 0, 0}, 0, false}};
  const test::TemporaryDirectory folder;
  write_coco_instances(folder / "i.json", written);
  const CocoInstances read = read_coco_instances(folder / "i.json");
  ASSERT_EQ(read.categories.size(), 2u);
  EXPECT_EQ(read.categories[0].name, written.categories[0].name);
  EXPECT_EQ(read.categories[1].id, 5);
  ASSERT_EQ(read.images.size(), 2u);
  EXPECT_EQ(read.images[0].id, -3);
  EXPECT_EQ(read.images[0].file_name, written.images[0].file_name);
  EXPECT_EQ(read.images[0].size, (Size{10, 20}));
  EXPECT_EQ(read.images[1].size, Size{});
  ASSERT_EQ(read.objects.size(), 2u);
  EXPECT_EQ(read.objects[0].box, written.objects[0].box);
  EXPECT_EQ(read.objects[0].area, 0.25);
  EXPECT_TRUE(read.objects[0].crowd);
  EXPECT_EQ(read.objects[1].image_id, 4);
  EXPECT_EQ(read.objects[1].category_id, 1);
}

TEST(CocoResults, AreReadAndWritten) {
  const CocoResults results = parse_coco_results(
      R"([{"image_id": 42, "category_id": 18, "bbox": [258.15, 41.29, 348.26, 243.78],
           "score": 0.236, "more": {}},
          {"score": -1, "bbox": [0, 0, 0, 0], "category_id": 2.0, "image_id": 1}])",
      "r.json");
  ASSERT_EQ(results.entries.size(), 2u);
  EXPECT_EQ(results.entries[0].image_id, 42);
  EXPECT_EQ(results.entries[0].category_id, 18);
  EXPECT_EQ(results.entries[0].box, (CocoBox{258.15, 41.29, 348.26, 243.78}));
  EXPECT_EQ(results.entries[0].score, 0.236);
  EXPECT_EQ(results.entries[1].category_id, 2);

  const test::TemporaryDirectory folder;
  write_coco_results(folder / "r.json", results);
  const CocoResults again = read_coco_results(folder / "r.json");
  ASSERT_EQ(again.entries.size(), 2u);
  EXPECT_EQ(again.entries[0].box, results.entries[0].box);
  EXPECT_EQ(again.entries[0].score, 0.236);
  EXPECT_EQ(again.entries[1].image_id, 1);
  write_coco_results(folder / "empty.json", {});
  EXPECT_TRUE(read_coco_results(folder / "empty.json").entries.empty());
}

TEST(CocoResults, WrongEntriesAreRefusedByName) {
  const auto refusal = [](std::string_view text) {
    return error_of([&] { parse_coco_results(text, "r.json"); });
  };
  EXPECT_EQ(refusal(R"([{"image_id": 1, "category_id": 2, "bbox": [1, 2, 3, 4]}])"),
            "r.json: [0]: 'score' must be a number; it is missing");
  EXPECT_EQ(refusal(R"([{"image_id": 1, "category_id": 2, "bbox": [1, 2, 3, -4], "score": 1}])"),
            "r.json: [0]: 'bbox' is 1, 2, 3, -4; width and height must not be negative");
  EXPECT_EQ(refusal(R"([{"image_id": null, "category_id": 2, "bbox": [1, 2, 3, 4], "score": 1}])"),
            "r.json: [0]: 'image_id' must be a whole number; it is null");
  EXPECT_EQ(refusal(R"({"annotations": []})"), "r.json: must be a list of objects");
  EXPECT_EQ(refusal(""), "r.json: is not valid JSON: it ends too early");
}

}  // namespace
}  // namespace sact::detect
