// Tests of holding out a part of each class where there is no validation set.
#include "data/held_out.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "data/open.h"
#include "dataset_samples.h"

namespace sact::data {
namespace {

using namespace sact::test;

/// So many images in each of three classes.
void make_classes(const std::filesystem::path& root, const std::vector<int>& counts) {
  for (size_t label = 0; label < counts.size(); ++label) {
    for (int i = 0; i < counts[label]; ++i) {
      write_plain(root / std::string(1, char('a' + label)) / (std::to_string(i) + ".png"), 4, 4, i);
    }
  }
}

Names names_in(const Dataset& set, const std::filesystem::path& root) {
  Names names;
  for (int64_t i = 0; i < set.size(); ++i) {
    names.push_back(std::filesystem::relative(set.sample_name(i), root).string());
  }
  return names;
}

TEST(HeldOut, EveryClassGivesItsShareButNeverAll) {
  Names names;
  std::vector<int> labels;
  const std::vector<int> counts = {40, 13, 4, 2, 1};
  for (size_t label = 0; label < counts.size(); ++label) {
    for (int i = 0; i < counts[label]; ++i) {
      names.push_back(std::to_string(label) + "/" + std::to_string(i) + ".jpg");
      labels.push_back(int(label));
    }
  }
  auto held = [&](double share) {
    std::vector<int> found(counts.size());
    const std::vector<bool> chosen = held_out_samples(names, labels, share);
    for (size_t i = 0; i < chosen.size(); ++i) found[size_t(labels[i])] += chosen[i];
    return found;
  };
  EXPECT_EQ(held(0.1), (std::vector<int>{4, 1, 1, 1, 0}));
  EXPECT_EQ(held(0.5), (std::vector<int>{20, 7, 2, 1, 0}));
  EXPECT_EQ(held(0.99), (std::vector<int>{39, 12, 3, 1, 0}));
}

TEST(HeldOut, ChoiceFollowsTheNamesAndNotTheirOrder) {
  Names names;
  for (int i = 0; i < 100; ++i) names.push_back("cat/" + std::to_string(i) + ".jpg");
  const std::vector<int> labels(names.size(), 0);
  auto chosen = [&](const Names& list) {
    std::map<std::string, bool> by_name;
    const std::vector<bool> held = held_out_samples(list, labels, 0.2);
    for (size_t i = 0; i < list.size(); ++i) by_name[list[i]] = held[i];
    return by_name;
  };
  Names reversed(names.rbegin(), names.rend());
  EXPECT_EQ(chosen(names), chosen(reversed));
  // Not simply the first names, which are often of one camera or one day.
  const std::vector<bool> held = held_out_samples(names, labels, 0.2);
  const auto half = held.begin() + 50;
  EXPECT_GT(std::count(held.begin(), half, true), 4);
  EXPECT_GT(std::count(half, held.end(), true), 4);
}

TEST(HeldOut, TheTwoPartsOfAFolderMakeUpTheWholeWhereverItLies) {
  TemporaryDirectory root, elsewhere;
  make_classes(root / "photos", {10, 20, 5});
  const std::string data = (root / "photos").string();
  const auto train = open_dataset(data + "/", "train:0.2"), val = open_dataset(data, "val:0.2");
  EXPECT_EQ(val->size(), 2 + 4 + 1);
  EXPECT_EQ(train->class_names(), val->class_names());
  Names both = names_in(*train, data);
  const Names held = names_in(*val, data);
  both.insert(both.end(), held.begin(), held.end());
  std::sort(both.begin(), both.end());
  Names whole = names_in(*open_dataset(data, ""), data);
  std::sort(whole.begin(), whole.end());
  EXPECT_EQ(both, whole);
  EXPECT_EQ(val->class_names()[size_t(val->label(val->size() - 1))], "c");
  EXPECT_EQ(val->load(0).label, 0);
  // A folder with train/ alone holds out the same files.
  make_classes(elsewhere / "train", {10, 20, 5});
  EXPECT_EQ(names_in(*open_dataset(elsewhere.path().string(), "val:0.2"), elsewhere / "train"),
            held);
}

TEST(HeldOut, MistakesSayWhatToDo) {
  TemporaryDirectory root;
  make_classes(root / "photos/train", {3, 3});
  make_classes(root / "photos/val", {1, 1});
  make_classes(root / "few", {1, 1});
  const std::string photos = (root / "photos").string();
  auto message = [](const std::string& data, const std::string& split) {
    return error_of([&] { open_dataset(data, split); });
  };
  EXPECT_TRUE(says(message(photos, "val:0.1"), "has a split 'val'"));
  EXPECT_TRUE(says(message(photos, "val:0.1"), photos + "/train as the data"));
  EXPECT_TRUE(says(message("synthetic", "train:0.1"), "has a split 'val'"));
  EXPECT_TRUE(says(message((root / "few").string(), "val:0.1"), "one image only"));
  for (const char* split : {"val:0", "val:1", "val:x", "train:", "val:0.1x", "val:nan"}) {
    EXPECT_TRUE(says(message(photos, split), "above 0 and below 1")) << split;
  }
  EXPECT_TRUE(says(message((root / "few").string(), "val"), "val_split=0.1"));
}

}  // namespace
}  // namespace sact::data
