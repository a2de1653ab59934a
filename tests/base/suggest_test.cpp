#include "base/suggest.h"

#include <gtest/gtest.h>

namespace sact {
namespace {

TEST(Suggest, DistanceCountsChangesAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("epochs", "epochs"), 0);
  EXPECT_EQ(edit_distance("epoch", "epochs"), 1);
  EXPECT_EQ(edit_distance("predcit", "predict"), 1) << "neighbours that are swapped count once";
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("abc", "cab"), 2);
}

TEST(Suggest, TheNearestWordIsMeant) {
  const std::vector<std::string> known = {"eval", "export", "predict", "detect"};
  EXPECT_EQ(closest("predcit", known), "predict");
  EXPECT_EQ(closest("dtect", known), "detect");
  EXPECT_EQ(closest("exprot", known), "export");
  EXPECT_EQ(did_you_mean("evl", known), " (did you mean 'eval'?)");
}

TEST(Suggest, WhatIsFarFromAllIsNotGuessed) {
  const std::vector<std::string> known = {"eval", "x"};
  EXPECT_EQ(closest("frobnicate", known), "");
  EXPECT_EQ(closest("y", known), "") << "nothing of the word is left";
  EXPECT_EQ(did_you_mean("even", {"eval"}), "") << "half of it is another";
  EXPECT_EQ(closest(std::string(100'000, 'a'), {std::string(100'001, 'a')}), "");
}

}  // namespace
}  // namespace sact
