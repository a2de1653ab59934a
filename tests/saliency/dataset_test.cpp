// Finding images and their fixation maps, and reading these.
#include "saliency/dataset.h"

#include <gtest/gtest.h>

#include <limits>

#include <fstream>

#include "io/image.h"
#include "saliency/fixations.h"
#include "support/errors.h"
#include "support/mat_samples.h"
#include "support/temporary.h"

namespace sact::saliency {
namespace {

using test::error_of;

class SaliencyData : public ::testing::Test {
 protected:
  void touch(const std::string& name) {
    std::filesystem::create_directories((directory_ / name).parent_path());
    std::ofstream(directory_ / name) << "x";
  }

  std::vector<std::string> names(const std::vector<Item>& items) {
    std::vector<std::string> found;
    for (const Item& item : items) {
      found.push_back(item.category + ":" +
                      item.image.lexically_relative(directory_.path()).string() + "=" +
                      item.fixations.lexically_relative(directory_.path()).string());
    }
    return found;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(SaliencyData, TheLayoutOfCat2000) {
  for (const char* name :
       {"Stimuli/B/2.jpg", "Stimuli/B/1.jpg", "Stimuli/A/1.jpg", "Stimuli/A/Output/1_blurred.jpg",
        "FIXATIONLOCS/A/1.mat", "FIXATIONLOCS/B/1.mat", "FIXATIONLOCS/B/2.png"}) {
    touch(name);
  }
  EXPECT_EQ(names(list_items(directory_.path())),
            std::vector<std::string>({"A:Stimuli/A/1.jpg=FIXATIONLOCS/A/1.mat",
                                      "B:Stimuli/B/1.jpg=FIXATIONLOCS/B/1.mat",
                                      "B:Stimuli/B/2.jpg=FIXATIONLOCS/B/2.png"}));
}

TEST_F(SaliencyData, AnyTwoFolders) {
  for (const char* name : {"photos/b.png", "photos/x/a.jpg", "maps/b.png", "maps/x/a.mat"}) {
    touch(name);
  }
  EXPECT_EQ(
      names(list_items(directory_ / "photos", directory_ / "maps")),
      std::vector<std::string>({"all:photos/b.png=maps/b.png", "x:photos/x/a.jpg=maps/x/a.mat"}));
}

TEST_F(SaliencyData, WhatIsMissingIsNamed) {
  const auto message = [&] { return error_of([&] { list_items(directory_.path()); }); };
  EXPECT_NE(message().find("layout of CAT2000"), std::string::npos);
  touch("FIXATIONLOCS/A/2.mat");
  std::filesystem::create_directories(directory_ / "Stimuli/A");
  EXPECT_NE(message().find("no JPEG or PNG"), std::string::npos);
  touch("Stimuli/A/1.jpg");
  EXPECT_NE(message().find("FIXATIONLOCS/A/1.mat"), std::string::npos) << message();
  EXPECT_NE(error_of([&] { list_items(directory_ / "Stimuli", directory_ / "none"); }).find("none"),
            std::string::npos);
}

TEST(SaliencyParts, HalvesOfEveryCategoryMakeTheWhole) {
  std::vector<Item> items;
  for (const char* category : {"A", "A", "A", "B", "C", "C"}) {
    items.push_back({category, std::to_string(items.size()), {}});
  }
  const auto images = [&](Part part) {
    std::string text;
    for (const Item& item : part_of(items, part)) text += item.image.string();
    return text;
  };
  EXPECT_EQ(images(Part::kFirstHalf), "04");
  EXPECT_EQ(images(Part::kSecondHalf), "1235");
  EXPECT_EQ(images(Part::kAll), "012345");
}

TEST_F(SaliencyData, FixationMapsAreRead) {
  Map map(2, 3);
  map.at(0, 2) = map.at(1, 0) = 1;
  test::write_mat<uint8_t>(directory_ / "f.mat", "fixLocs", map);
  io::Image image(3, 2);
  image.pixel(2, 0)[0] = 255;
  image.pixel(0, 1)[2] = 1;
  io::write_image(directory_ / "f.png", image);
  for (const char* name : {"f.mat", "f.png"}) {
    const Fixations fixations = read_fixations(directory_ / name, "fixLocs");
    EXPECT_EQ(fixations.size, (Size{2, 3}));
    EXPECT_EQ(fixations.pixels, std::vector<uint32_t>({2, 3})) << name;
  }
}

TEST_F(SaliencyData, FixationMapsThatSayNothingAreRefused) {
  test::write_mat<uint8_t>(directory_ / "none.mat", "fixLocs", Map(3, 3));
  test::write_mat<uint8_t>(directory_ / "all.mat", "fixLocs", Map(3, 3, 1.0f));
  EXPECT_NE(error_of([&] { read_fixations(directory_ / "none.mat", "fixLocs"); }).find("no pixel"),
            std::string::npos);
  EXPECT_NE(
      error_of([&] { read_fixations(directory_ / "all.mat", "fixLocs"); }).find("density map"),
      std::string::npos);
  Map strange(3, 3);
  for (float value : {-1.0f, std::numeric_limits<float>::quiet_NaN()}) {
    strange.values[4] = value;
    EXPECT_NE(error_of([&] { fixations_of(strange, "strange"); }).find("has a value of"),
              std::string::npos);
  }
  EXPECT_NE(error_of([&] { read_fixations(directory_ / "all.mat", "other"); }).find("'fixLocs'"),
            std::string::npos);
}

TEST(JoinedFixations, AreScaledAndCountOnce) {
  const Fixations small{{2, 2}, {0, 3}}, large{{4, 4}, {0, 5, 7}};
  const Fixations* maps[] = {&small, &large};
  const Fixations all = joined(maps, {4, 4});
  EXPECT_EQ(all.pixels, std::vector<uint32_t>({0, 5, 7, 10}));
  EXPECT_EQ(joined(maps, {2, 2}).pixels, std::vector<uint32_t>({0, 1, 3}));
}

}  // namespace
}  // namespace sact::saliency
