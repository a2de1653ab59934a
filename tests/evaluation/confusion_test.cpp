// Which classes are taken for which.
#include "evaluation/confusion.h"

#include <gtest/gtest.h>

namespace sact::evaluation {
namespace {

Confusion animals() {
  Confusion confusion;
  confusion.add(0, 0, 8);  // cats
  confusion.add(0, 1, 2);
  confusion.add(1, 1, 1);  // dogs
  confusion.add(1, 0, 2);
  confusion.add(1, 3, 1);
  confusion.add(3, 3);  // foxes; class 2 has no images
  confusion.add(3, 1);
  confusion.add(3, 1);
  confusion.add(3, 1);
  return confusion;
}

TEST(Confusion, ClassesComeWeakestFirstWithWhatTheyAreTakenFor) {
  const auto classes = animals().by_class();
  ASSERT_EQ(classes.size(), 3u);
  EXPECT_EQ(classes[0].label, 1);
  EXPECT_EQ(classes[1].label, 3) << "equal ones by label";
  EXPECT_EQ(classes[2].label, 0);
  EXPECT_EQ(classes[0].images, 4);
  EXPECT_EQ(classes[0].accuracy(), 0.25);
  EXPECT_EQ(classes[0].taken_for, 0);
  EXPECT_EQ(classes[0].taken, 2);
  EXPECT_EQ(classes[2].accuracy(), 0.8);
}

TEST(Confusion, PairsComeByNumberAndRightAnswersAreNone) {
  const auto pairs = animals().most_confused(3);
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0], (ConfusionCell{3, 1, 3}));
  EXPECT_EQ(pairs[1], (ConfusionCell{0, 1, 2}));
  EXPECT_EQ(pairs[2], (ConfusionCell{1, 0, 2}));
}

TEST(Confusion, ClassThatIsAlwaysRightIsTakenForNothing) {
  Confusion confusion;
  confusion.add(5, 5, 3);
  EXPECT_EQ(confusion.by_class().at(0).taken_for, -1);
  EXPECT_TRUE(confusion.most_confused(10).empty());
}

}  // namespace
}  // namespace sact::evaluation
