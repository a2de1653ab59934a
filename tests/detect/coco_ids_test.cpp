#include "detect/coco_ids.h"

#include <gtest/gtest.h>

#include "support/errors.h"

namespace sact::detect {
namespace {

CocoInstances instances() {
  CocoInstances instances;
  instances.name = "gt.json";
  instances.categories = {{18, "dog"}, {3, "car"}, {7, "cat"}};
  instances.images = {
      {139, "a.jpg", {}}, {285, "val/b.jpg", {}}, {300, "x/c.jpg", {}}, {301, "y/c.jpg", {}}};
  return instances;
}

ModelSpec spec_of(std::vector<std::string> labels) {
  ModelSpec spec;
  spec.classes = int(labels.size());
  spec.labels = std::move(labels);
  return spec;
}

TEST(CocoIds, WithoutAnnotationsAllIsNumberedFromOne) {
  const CocoIds ids(spec_of({"x", "y"}));
  EXPECT_EQ(ids.image("whatever.jpg", 4), 4);
  EXPECT_EQ(ids.category(0), 1);
  EXPECT_EQ(ids.category(1), 2);
}

TEST(CocoIds, ClassesAreFoundByTheirNames) {
  const CocoIds ids(spec_of({"cat", "horse", "dog"}), instances());
  EXPECT_EQ(ids.category(0), 7);
  EXPECT_EQ(ids.category(1), std::nullopt);
  EXPECT_EQ(ids.category(2), 18);
  EXPECT_EQ(ids.unknown_labels(), std::vector<std::string>{"horse"});
  EXPECT_EQ(test::error_of([] {
              CocoIds(spec_of({"horse", "cow"}), instances());
            }),
            "gt.json: has no category named as one of the model's classes ('horse', ...)");
}

TEST(CocoIds, AModelWithoutLabelsHasTheCategoriesByTheirIds) {
  ModelSpec spec;
  spec.classes = 3;
  const CocoIds ids(spec, instances());
  EXPECT_EQ(ids.category(0), 3);
  EXPECT_EQ(ids.category(1), 7);
  EXPECT_EQ(ids.category(2), 18);
  spec.classes = 4;
  EXPECT_EQ(test::error_of([&] { CocoIds(spec, instances()); }),
            "gt.json: has 3 categories, but the model has 4 classes and no labels to find them by");
}

TEST(CocoIds, ImagesAreFoundByTheirFileNames) {
  const CocoIds ids(spec_of({"dog"}), instances());
  EXPECT_EQ(ids.image("/data/a.jpg", 1), 139);
  EXPECT_EQ(ids.image("b.jpg", 2), 285);
  EXPECT_EQ(ids.image("/data/y/c.jpg", 3), 301);
  EXPECT_EQ(ids.image("x/c.jpg", 3), 300);
  EXPECT_EQ(test::error_of([&] { ids.image("/data/d.jpg", 1); }),
            "/data/d.jpg: is not among the images of gt.json");
  EXPECT_EQ(
      test::error_of([&] { ids.image("c.jpg", 1); }),
      "c.jpg: gt.json has several images of this name, and the path does not say which it is");
}

}  // namespace
}  // namespace sact::detect
