// Matching the classes of a data set with those of a network.
#include "data/class_matching.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "data/imagenet_classes.h"

namespace sact::data {
namespace {

using Names = std::vector<std::string>;
using Numbers = std::vector<int>;

/// What matches, or the problem.
Numbers matched(const Names& names, const Names& labels, int classes = 0) {
  const ClassMatch match =
      match_classes(names, labels, labels.empty() ? classes : int(labels.size()));
  EXPECT_EQ(match.problem, "");
  return match.classes;
}

std::string problem(const Names& names, const Names& labels, int classes = 0) {
  const ClassMatch match =
      match_classes(names, labels, labels.empty() ? classes : int(labels.size()));
  EXPECT_NE(match.problem, "");
  EXPECT_LT(match.problem.size(), 900u);
  EXPECT_EQ(match.problem.find('\n'), std::string::npos);
  return match.problem;
}

Names usual_names() {
  Names names;
  for (const ImageNetClass& entry : imagenet_classes()) {
    names.emplace_back(entry.names.substr(0, entry.names.find(',')));
  }
  return names;
}

TEST(ImageNetClasses, AreInTheOrderOfTheirIds) {
  const auto& classes = imagenet_classes();
  EXPECT_TRUE(std::is_sorted(classes.begin(), classes.end(), [](const auto& a, const auto& b) {
    return a.wordnet_id < b.wordnet_id;
  }));
  EXPECT_EQ(classes[0].names, "tench, Tinca tinca");
  EXPECT_EQ(classes[207].names, "golden retriever");
  EXPECT_EQ(classes[281].wordnet_id, "n02123045");  // tabby
  EXPECT_EQ(classes[999].names, "toilet tissue, toilet paper, bathroom tissue");
}

TEST(MatchClasses, FewerClassesInAnotherOrderAreFoundByName) {
  EXPECT_EQ(matched({"dog", "ape"}, {"ape", "bee", "cat", "dog"}), (Numbers{3, 0}));
}

TEST(MatchClasses, CaseHyphensAndUnderscoresDoNotMatter) {
  EXPECT_EQ(matched({"french_horn", "Gas-Pump"}, {"gas pump", "French horn"}), (Numbers{1, 0}));
  EXPECT_EQ(matched({"Cat", "cat"}, {"cat", "Cat"}), (Numbers{1, 0})) << "unless both are there";
}

TEST(MatchClasses, WordNetIdsAndNamesMeanTheSame) {
  const Names labels = {"tench", "English springer", "golf ball"};
  EXPECT_EQ(matched({"n02102040", "n03445777"}, labels), (Numbers{1, 2}));
  EXPECT_EQ(matched({"n01440764-tench"}, labels), (Numbers{0}));
  EXPECT_EQ(matched({"Tinca tinca", "English springer spaniel"}, labels), (Numbers{0, 1}));
  EXPECT_EQ(matched({"golf ball", "tench"}, {"n01440764", "n03445777"}), (Numbers{1, 0}));
  EXPECT_EQ(matched({"tench"}, {"golf ball", "tench, Tinca tinca"}), (Numbers{1}));
}

TEST(MatchClasses, PlaceTellsApartClassesOfOneName) {
  const Names labels = usual_names();
  ASSERT_EQ(labels[134], "crane");
  ASSERT_EQ(labels[517], "crane");
  EXPECT_EQ(matched({"n03126707", "n02012849"}, labels), (Numbers{517, 134}));
  Names with_background = labels;
  with_background.insert(with_background.begin(), "background");
  EXPECT_EQ(matched({"n03126707"}, with_background), (Numbers{518}));
  EXPECT_NE(problem({"crane"}, labels).find("may be any of the network's 2"), std::string::npos);
  EXPECT_EQ(matched(labels, labels)[517], 517) << "equal lists need no telling apart";
}

TEST(MatchClasses, StrangersAreRefusedWithNamesOfBothSides) {
  const std::string message = problem({"dog", "zebra crossing", "cat"}, {"cat", "dog", "bird"});
  EXPECT_NE(message.find("1 of its 3 classes (zebra crossing) is none of the network's 3"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("cat, dog and bird"), std::string::npos) << message;
  problem(Names(5000, std::string(5000, 'x')), usual_names());  // bounded
}

TEST(MatchClasses, TwoFoldersAreNotOneClass) {
  const std::string message = problem({"tench", "n01440764"}, {"golf ball", "tench"});
  EXPECT_NE(message.find("'tench' and 'n01440764' are both the network's class 'tench'"),
            std::string::npos)
      << message;
}

TEST(MatchClasses, WithoutLabelsOnlyAsManyClassesMatch) {
  EXPECT_EQ(matched({"b", "a"}, {}, 2), (Numbers{0, 1}));
  const std::string message = problem({"a", "b"}, {}, 3);
  EXPECT_NE(message.find("has 2 classes, but the network has 3 and no labels"), std::string::npos)
      << message;
}

TEST(MatchClasses, WithoutLabelsImageNetHasItsUsualOrder) {
  EXPECT_EQ(matched({"n15075141", "n01443537"}, {}, 1000), (Numbers{999, 1}));
  EXPECT_EQ(matched({"n15075141", "n01443537"}, {}, 1001), (Numbers{1000, 2}));
  problem({"n15075141", "dog"}, {}, 1000);
}

/// Three samples of the classes 0, 1 and 0.
class Few : public Dataset {
 public:
  int64_t size() const override { return 3; }
  const Names& class_names() const override { return names_; }
  std::string sample_name(int64_t index) const override { return std::to_string(index); }
  int label(int64_t index) const override { return int(index % 2); }
  Sample load(int64_t index, int) const override { return {io::RgbImage(1, 1), label(index)}; }

 private:
  Names names_ = {"dog", "ape"};
};

TEST(WithNetworkLabels, ItemsAreRenumbered) {
  const auto set = with_network_labels(std::make_unique<Few>(), {3, 0}, {"a", "b", "c", "d"}, 4);
  EXPECT_EQ(set->classes(), 4);
  EXPECT_EQ(set->label(0), 3);
  EXPECT_EQ(set->label(1), 0);
  EXPECT_EQ(set->load(2, 0).label, 3);
  EXPECT_EQ(set->sample_name(2), "2");
  const auto unnamed = with_network_labels(std::make_unique<Few>(), {3, 0}, {}, 4);
  EXPECT_EQ(unnamed->class_names(), (Names{"ape", "", "", "dog"}));
}

}  // namespace
}  // namespace sact::data
