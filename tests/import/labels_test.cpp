// Class names in the forms that others keep them, and those of ImageNet.
#include "import/labels.h"

#include <gtest/gtest.h>

#include "data/class_matching.h"
#include "data/imagenet_classes.h"
#include "import/import.h"
#include "import/samples.h"
#include "support/errors.h"
#include "support/temporary.h"

namespace sact {
namespace {

using importing::read_labels;
using Labels = std::vector<std::string>;

class ImportLabels : public ::testing::Test {
 protected:
  Labels labels(const std::string& text, int classes) {
    test::write_bytes(directory_ / "labels", text);
    return read_labels(directory_ / "labels", classes);
  }
  std::string refusal(const std::string& text, int classes) {
    return test::error_of([&] { labels(text, classes); });
  }

  test::TemporaryDirectory directory_;
};

TEST_F(ImportLabels, TextAndJsonGiveTheSameNames) {
  const Labels expected = {"tench", "golf ball", "church"};
  EXPECT_EQ(labels("tench\ngolf ball\n\nchurch\n", 3), expected);
  EXPECT_EQ(labels(R"(["tench", "golf ball", "church"])", 3), expected);
  EXPECT_EQ(labels(R"({"1": "golf ball", "0": "tench", "2": "church"})", 3), expected);
  EXPECT_EQ(labels(R"({"0": ["n01440764", "tench"], "1": ["n03445777", "golf ball"],
                       "2": ["n03028079", "church"]})",
                   3),
            expected);
}

TEST_F(ImportLabels, ListsThatDoNotFitAreRefused) {
  EXPECT_NE(refusal("a\nb\n", 3).find("2 names, but the network has 3 classes"), std::string::npos);
  EXPECT_NE(refusal(R"({"0": "a", "2": "b"})", 2).find("'2'"), std::string::npos);
  EXPECT_NE(refusal(R"({"0": "a", "00": "b"})", 2).find("class 0 twice"), std::string::npos);
  EXPECT_NE(refusal(R"({"x": "a"})", 1).find("'x'"), std::string::npos);
  EXPECT_NE(refusal(R"(["a", 7])", 2).find("class 1 has no name but 7"), std::string::npos);
  EXPECT_NE(refusal(R"(["a", ""])", 2).find("class 1"), std::string::npos);
  EXPECT_NE(refusal(R"(["a", )", 2).find("labels"), std::string::npos);
}

TEST_F(ImportLabels, FoldersCalledByWordNetIdFindEveryClassOfImageNet) {
  Labels ids;
  for (const auto& row : data::imagenet_classes()) ids.emplace_back(row.wordnet_id);
  const data::ClassMatch match = data::match_classes(ids, importing::imagenet_labels(), 1000);
  EXPECT_EQ(match.problem, "");
  for (size_t i = 0; i < match.classes.size(); ++i) EXPECT_EQ(match.classes[i], int(i));
}

TEST_F(ImportLabels, ANetworkOfAThousandClassesHasThoseOfImageNetUnlessToldOtherwise) {
  ModelSpec spec = test::plain_spec(UnitKind::kBottleneckV1, {1});
  spec.classes = 1000;
  test::write_tensors(directory_ / "n", test::torch_state(spec));
  const auto imported = [&](const std::string& labels) {
    return importing::import_network(directory_ / "n", {.labels = labels}).spec.labels;
  };
  EXPECT_EQ(imported("").at(0), "tench");
  EXPECT_EQ(imported("imagenet").at(574), "golf ball");
  EXPECT_TRUE(imported("none").empty());
  spec.classes = 10;
  test::write_tensors(directory_ / "n", test::torch_state(spec));
  EXPECT_TRUE(imported("").empty());
  EXPECT_NE(test::error_of([&] { imported("imagenet"); }).find("the network has 10"),
            std::string::npos);
}

}  // namespace
}  // namespace sact
