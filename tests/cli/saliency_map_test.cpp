// sact saliency map, run as a program: pictures, and which fixation map belongs to which image.
#include "cli/saliency_samples.h"
#include "io/json.h"

namespace sact::test {
namespace {

using io::Json;

class CliSaliencyMap : public CliSaliency {
 protected:
  Finished map(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"saliency", "map", "m", "--size", "36", "--out", "maps"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  io::RgbImage picture(const std::string& name) {
    return io::read_image(directory_ / ("maps/" + name + ".jpg.saliency.png"));
  }
  void copy(const std::string& from, const std::string& to) {
    std::filesystem::create_directories((directory_ / to).parent_path());
    std::filesystem::copy(directory_ / from, directory_ / to);
  }
};

TEST_F(CliSaliencyMap, PicturesHaveAPanelForEachMap) {
  const std::string photo = "cat/Stimuli/A/1.jpg";
  ASSERT_EQ(map({photo, "--center-weight", "0"}).status, 0);
  const io::RgbImage two = picture("1");
  ASSERT_EQ(map({photo}).status, 0);
  const io::RgbImage three = picture("1");
  EXPECT_EQ(three.height, two.height);
  EXPECT_NEAR(three.width, 1.5 * two.width, 10) << "with the centre map";
  const Finished finished = map({"cat/Stimuli/A", "--fixations", "cat/FIXATIONLOCS/A"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_NE(finished.out.find("4 images"), std::string::npos) << finished.out;
  const io::RgbImage four = picture("1");
  EXPECT_EQ(four.width, two.width);
  EXPECT_NEAR(four.height, 2 * two.height, 30) << "people above, in two rows";
}

TEST_F(CliSaliencyMap, TheCentreWeightChangesItsPanelAlone) {
  const auto panels = [&](const std::string& weight) {
    EXPECT_EQ(map({"cat/Stimuli/A/1.jpg", "--center-weight", weight}).status, 0);
    const io::RgbImage all = picture("1");
    const auto third = [&](int number) {
      std::vector<uint8_t> pixels;
      for (int y = 10; y < 200; ++y) {
        const uint8_t* row = all.pixel(number * all.width / 3 + 20, y);
        pixels.insert(pixels.end(), row, row + 3 * (all.width / 3 - 40));
      }
      return pixels;
    };
    return std::vector{third(0), third(1), third(2)};
  };
  const auto little = panels("0.1"), much = panels("10");
  EXPECT_EQ(little[0], much[0]);
  EXPECT_EQ(little[1], much[1]) << "ponder cost alone";
  EXPECT_NE(little[2], much[2]);
}

TEST_F(CliSaliencyMap, TheUsualSizeIsThatOfThePaper) {
  make_detector("d", 64);
  for (const auto& [model, size] : {std::pair("m", Json({180, 320})), {"d", Json({360, 640})}}) {
    const Finished finished = run({"saliency", "map", model, "cat/Stimuli/A/1.jpg", "--json"});
    ASSERT_EQ(finished.status, 0) << finished.err;
    const Json json = Json::parse(finished.out);
    const Json& image = json["images"][0];
    EXPECT_EQ(Json({image["scaled_height"], image["scaled_width"]}), size);
    EXPECT_EQ(Json({image["height"], image["width"]}), Json({36, 64})) << "of the photograph";
    EXPECT_GT(image["flops"], 0.1 * image["dense_flops"].get<double>());
    EXPECT_EQ(json["flops"], image["flops"]) << "the mean of one image";
  }
}

TEST_F(CliSaliencyMap, ImagesThatFailAreNamedAndTheOthersDrawn) {
  const Finished broken = map({"none.jpg", "cat/Stimuli/A/1.jpg", "--json"});
  EXPECT_EQ(broken.status, 1);
  EXPECT_EQ(Json::parse(broken.out)["failed"], 1);
  EXPECT_GT(picture("1").width, 0);
}

TEST_F(CliSaliencyMap, FixationMapsArePairedByRelativePath) {
  // A/1 has a map of another shape: wherever it is drawn with that one, it fails.
  Map tall(kWidth, kHeight);
  tall.at(3, 3) = 1;
  write_mat<uint8_t>(fixations("A/1"), "fixLocs", tall);
  const Finished both = map({"cat/Stimuli", "--fixations", "cat/FIXATIONLOCS", "--json"});
  const Json json = Json::parse(both.out);
  EXPECT_EQ(json["failed"], 1) << both.err;
  for (const Json& image : json["images"]) {
    const bool is_the_one = image["path"].get<std::string>().ends_with("A/1.jpg");
    EXPECT_EQ(image.contains("error"), is_the_one) << image;
  }
  EXPECT_NE(both.err.find("A/1.jpg: has 64 x 36 pixels, but its fixation map"), std::string::npos);
}

TEST_F(CliSaliencyMap, AnImageWithoutFixationMapSaysWhatIsExpected) {
  const Finished finished = map({"cat/Stimuli/A/1.jpg", "--fixations", "cat/FIXATIONLOCS"});
  expect_error(finished, "1.jpg: has no fixation map; expected cat/FIXATIONLOCS/1.mat or .png");
}

TEST_F(CliSaliencyMap, OneFixationMapForSeveralImagesIsRefused) {
  const std::string one = "cat/FIXATIONLOCS/A/1.mat";
  ASSERT_EQ(map({"cat/Stimuli/A/1.jpg", "cat/Stimuli/A/1.jpg", "--fixations", one}).status, 0)
      << "an image may be given twice";
  expect_error(map({"cat/Stimuli/A", "--fixations", one}), "the fixation map of two images");
  expect_error(
      map({"cat/Stimuli/A/1.jpg", "cat/Stimuli/B/1.jpg", "--fixations", "cat/FIXATIONLOCS/A"}),
      "A/1.mat: would be the fixation map of two images");
}

TEST_F(CliSaliencyMap, TwoFixationMapsForOneImageAreNamed) {
  copy("cat/FIXATIONLOCS/A/1.mat", "cat/FIXATIONLOCS/A/1.png");
  const Finished finished = map({"cat/Stimuli/A/1.jpg", "--fixations", "cat/FIXATIONLOCS/A"});
  expect_error(finished, "FIXATIONLOCS/A/1.mat and cat/FIXATIONLOCS/A/1.png");
}

TEST_F(CliSaliencyMap, NothingThatIsReadIsWrittenOver) {
  copy("cat/Stimuli/A/1.jpg", "in/1.jpg");
  copy("cat/Stimuli/A/1.jpg", "in/1.jpg.saliency.png");
  const Finished finished =
      run({"saliency", "map", "m", "in/1.jpg", "in/1.jpg.saliency.png", "--out", "in"});
  expect_error(finished, "would be overwritten");
}

}  // namespace
}  // namespace sact::test
