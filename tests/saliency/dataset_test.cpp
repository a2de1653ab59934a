// Finding images and their fixation maps, and reading these.
#include "saliency/dataset.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "base/file.h"
#include "io/image.h"
#include "saliency/fixations.h"
#include "support/errors.h"
#include "support/image_samples.h"
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

  std::vector<std::string> names(const std::vector<Stimulus>& items) {
    std::vector<std::string> found;
    for (const Stimulus& item : items) {
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
  EXPECT_EQ(names(list_stimuli(directory_.path())),
            std::vector<std::string>({"A:Stimuli/A/1.jpg=FIXATIONLOCS/A/1.mat",
                                      "B:Stimuli/B/1.jpg=FIXATIONLOCS/B/1.mat",
                                      "B:Stimuli/B/2.jpg=FIXATIONLOCS/B/2.png"}));
}

TEST_F(SaliencyData, AnyTwoFolders) {
  for (const char* name : {"photos/b.png", "photos/x/a.jpg", "maps/b.png", "maps/x/a.mat"}) {
    touch(name);
  }
  EXPECT_EQ(
      names(list_stimuli(directory_ / "photos", directory_ / "maps")),
      std::vector<std::string>({"all:photos/b.png=maps/b.png", "x:photos/x/a.jpg=maps/x/a.mat"}));
}

TEST_F(SaliencyData, WhatIsMissingIsNamed) {
  const auto message = [&] { return error_of([&] { list_stimuli(directory_.path()); }); };
  EXPECT_NE(message().find("layout of CAT2000"), std::string::npos);
  touch("FIXATIONLOCS/A/2.mat");
  std::filesystem::create_directories(directory_ / "Stimuli/A");
  EXPECT_NE(message().find("no JPEG, PNG"), std::string::npos);
  touch("Stimuli/A/1.jpg");
  EXPECT_NE(message().find("FIXATIONLOCS/A/1.mat"), std::string::npos) << message();
  EXPECT_NE(
      error_of([&] { list_stimuli(directory_ / "Stimuli", directory_ / "none"); }).find("none"),
      std::string::npos);
}

TEST_F(SaliencyData, EveryImageNeedsOneFixationMapOfItsOwn) {
  const auto message = [&] {
    return error_of([&] { list_stimuli(directory_ / "photos", directory_ / "maps"); });
  };
  for (const char* name : {"photos/x/a.jpg", "maps/x/a.mat", "maps/x/a.png"}) touch(name);
  EXPECT_NE(message().find("a.jpg: has two fixation maps"), std::string::npos) << message();
  EXPECT_NE(message().find("maps/x/a.mat and"), std::string::npos) << message();
  EXPECT_NE(message().find("maps/x/a.png;"), std::string::npos) << message();
  std::filesystem::remove(directory_ / "maps/x/a.png");
  touch("photos/x/a.png");
  EXPECT_NE(message().find("maps/x/a.mat: would be the fixation map of two images"),
            std::string::npos)
      << message();
}

class SaliencySplit : public ::testing::Test {
 protected:
  SaliencySplit() {
    for (const char* category : {"A", "A", "A", "B", "C", "C"}) {
      items_.push_back({category, std::to_string(items_.size()), {}});
    }
  }
  std::string images(const Split& split, const std::vector<size_t>& numbers) {
    std::string text;
    for (const size_t number : numbers) text += split.items[number].image.string();
    return text;
  }
  /// "searched/reported", and how many images are needed and how many are both.
  std::string shown(Part part, bool with_search) {
    const Split parts = split(items_, part, with_search);
    return images(parts, parts.searched) + "/" + images(parts, parts.reported) + " " +
           std::to_string(parts.items.size()) + " " + std::to_string(searched_and_reported(parts));
  }
  std::vector<Stimulus> items_;
};

TEST_F(SaliencySplit, HalvesOfEveryCategoryMakeTheWhole) {
  EXPECT_EQ(shown(Part::kFirstHalf, false), "/04 2 0");
  EXPECT_EQ(shown(Part::kSecondHalf, false), "/1235 4 0");
  EXPECT_EQ(shown(Part::kAll, false), "/012345 6 0");
}

TEST_F(SaliencySplit, SettingsAreSearchedOnTheFirstHalf) {
  EXPECT_EQ(shown(Part::kFirstHalf, true), "04/04 2 2");
  EXPECT_EQ(shown(Part::kSecondHalf, true), "04/1235 6 0");
  EXPECT_EQ(shown(Part::kAll, true), "04/012345 6 2");
}

TEST_F(SaliencyData, FixationMapsAreRead) {
  Map map(2, 3);
  map.at(0, 2) = map.at(1, 0) = 1;
  test::write_mat<uint8_t>(directory_ / "f.mat", "fixLocs", map);
  io::RgbImage image(3, 2);
  image.pixel(2, 0)[0] = 255;
  image.pixel(0, 1)[2] = 1;
  io::write_image(directory_ / "f.png", image);
  for (const char* name : {"f.mat", "f.png"}) {
    const Fixations fixations = read_fixations(directory_ / name, "fixLocs");
    EXPECT_EQ(fixations.size, (Size{2, 3}));
    EXPECT_EQ(fixations.pixels, std::vector<uint32_t>({2, 3})) << name;
  }
}

TEST_F(SaliencyData, PicturesThatDoNotKeepPixelsAreRefused) {
  const auto expect_refused = [&](const test::Bytes& bytes, const std::string& part) {
    write_file_atomically(directory_ / "f.png", bytes);
    const std::string message = error_of([&] { read_fixations(directory_ / "f.png", "fixLocs"); });
    EXPECT_NE(message.find("f.png: " + part), std::string::npos) << message;
  };
  test::PngKind kind{.width = 3, .height = 1, .bit_depth = 16, .color_type = PNG_COLOR_TYPE_GRAY};
  expect_refused(test::make_png(kind, {0, 1, 0, 0, 0, 0}), "has 16 bits a colour");
  kind.bit_depth = 8;
  kind.color_type = PNG_COLOR_TYPE_GRAY_ALPHA;
  expect_refused(test::make_png(kind, {0, 0, 255, 255, 0, 0}), "has transparent colours");
  expect_refused(test::make_jpeg(test::gradient_image(16, 16)), "is a JPEG");
  kind.bit_depth = 1;
  kind.color_type = PNG_COLOR_TYPE_GRAY;
  write_file_atomically(directory_ / "f.png", test::make_png(kind, {0b01000000}));
  EXPECT_EQ(read_fixations(directory_ / "f.png", "").pixels, std::vector<uint32_t>({1}));
}

TEST_F(SaliencyData, ImageAndFixationMapHaveOneShape) {
  const auto read = [&](int width, int height) {
    io::write_image(directory_ / "i.jpg", io::RgbImage(width, height));
    return read_fixations(Stimulus{"", directory_ / "i.jpg", directory_ / "f.mat"}, "fixLocs");
  };
  Map map(54, 96);
  map.at(3, 4) = 1;
  test::write_mat<uint8_t>(directory_ / "f.mat", "fixLocs", map);
  EXPECT_EQ(read(32, 18).size, (Size{54, 96}));
  EXPECT_EQ(read(101, 57).pixels.size(), 1u) << "rounded sides";
  const std::string message = error_of([&] { read(18, 32); });
  EXPECT_NE(message.find("i.jpg: has 18 x 32 pixels, but its fixation map"), std::string::npos);
  EXPECT_NE(message.find("f.mat has 96 x 54"), std::string::npos) << message;
  EXPECT_NE(error_of([&] { read(32, 19); }).find("one shape"), std::string::npos);
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
