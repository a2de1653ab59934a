// sact saliency, run as a program on a tiny data set in the layout of CAT2000.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "base/file.h"
#include "base/random.h"
#include "data/synthetic.h"
#include "io/image.h"
#include "io/json.h"
#include "support/mat_samples.h"
#include "support/program.h"
#include "support/temporary.h"

namespace sact {
namespace {

using io::Json;
using test::run_sact;
using test::write_mat;

constexpr int kHeight = 54, kWidth = 96;

class CliSaliency : public ::testing::Test {
 protected:
  void SetUp() override {
    make_model("m", "sact");
    for (const std::string category : {"A", "B"}) {
      std::filesystem::create_directories(directory_ / ("cat/Stimuli/" + category));
      std::filesystem::create_directories(directory_ / ("cat/FIXATIONLOCS/" + category));
      for (int i = 1; i <= 4; ++i) add_image(category + "/" + std::to_string(i));
    }
  }

  void make_model(const std::string& name, const std::string& halting) {
    const auto made = run({"new", "--units", "2,3", "--width", "4", "--classes", "7",
                           "--input-size", "64", "--halting", halting, "--halting-bias", "-1",
                           "--halting-scale", "0.1", "--out", name});
    ASSERT_EQ(made.status, 0) << made.err;
  }

  /// A picture, and looks that gather about its middle.
  void add_image(const std::string& name) {
    data::SyntheticOptions options;
    options.width = 64;
    options.height = 36;
    io::write_image(directory_ / ("cat/Stimuli/" + name + ".jpg"),
                    data::synthetic_sample(options, ++images_).image);
    Random random{uint64_t(images_)};
    Map looks(kHeight, kWidth);
    for (int k = 0; k < 40; ++k) {
      const int y = std::clamp(int(kHeight / 2 + 8 * random.normal()), 0, kHeight - 1);
      const int x = std::clamp(int(kWidth / 2 + 14 * random.normal()), 0, kWidth - 1);
      looks.at(y, x) = 1;
    }
    write_mat<uint8_t>(fixations(name), "fixLocs", looks,
                       {images_ % 2 ? MAT_FT_MAT5 : MAT_FT_MAT73, MAT_COMPRESSION_ZLIB});
  }

  std::string fixations(const std::string& name) const {
    return directory_ / ("cat/FIXATIONLOCS/" + name + ".mat");
  }

  test::Finished run(const std::vector<std::string>& arguments) {
    return run_sact(arguments, directory_.path());
  }

  test::Finished eval(std::vector<std::string> more, const std::string& model = "m") {
    std::vector<std::string> arguments = {"saliency", "eval",   model,   "--data",
                                          "cat",      "--size", "36x64", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  /// A mistake: one line that has `part`.
  void expect_error(const test::Finished& finished, const std::string& part, int status = 1) {
    EXPECT_EQ(finished.status, status) << finished.err;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    EXPECT_NE(finished.err.find(part), std::string::npos) << finished.err;
  }

  std::string text_of(const std::string& name) {
    std::ifstream file(directory_ / name);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  test::TemporaryDirectory directory_;
  int images_ = 0;
};

TEST_F(CliSaliency, CenterHasTheDocumentedKeys) {
  const auto finished = run({"saliency", "center", "--data", "cat", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json json = Json::parse(finished.out);
  EXPECT_EQ(json["images"], 8);
  EXPECT_GT(json["auc_judd"], 0.7) << "people look at the middle here";
  ASSERT_EQ(json["per_category"].size(), 2u);
  EXPECT_EQ(json["per_category"][0]["category"], "A");
  EXPECT_EQ(json["per_category"][0]["images"], 4);
  for (const char* key : {"auc_judd", "nss", "cc", "sim", "kl", "auc_borji", "sauc"}) {
    const double mean =
        (json["per_category"][0][key].get<double>() + json["per_category"][1][key].get<double>()) /
        2;
    EXPECT_NEAR(json[key].get<double>(), mean, 1e-9) << key;
    EXPECT_GT(json["standard_errors"][key], 0) << key;
  }
}

TEST_F(CliSaliency, EvalSearchesOnOneHalfAndReportsOnTheOther) {
  const auto finished = eval(
      {"--blur", "1,3", "--center-weight", "0.1,1,3", "--csv", "t.csv", "--per-image", "i.csv"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json json = Json::parse(finished.out);
  EXPECT_EQ(json["images"], 4);
  EXPECT_EQ(json["search"]["images"], 4);
  ASSERT_EQ(json["search"]["settings"].size(), 6u);
  const Json& settings = json["search"]["settings"];
  const Json best =
      *std::max_element(settings.begin(), settings.end(),
                        [](const Json& a, const Json& b) { return a["auc_judd"] < b["auc_judd"]; });
  EXPECT_EQ(json["blur"], best["blur"]);
  EXPECT_EQ(json["center_weight"], best["center_weight"]);
  for (const char* key : {"auc_judd", "nss", "cc"}) {
    EXPECT_NEAR(json["gain"][key].get<double>(),
                json[key].get<double>() - json["center"][key].get<double>(), 1e-9);
  }
  const std::string rows = text_of("i.csv");
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 5);
  EXPECT_EQ(rows.find("A/1.jpg"), std::string::npos) << "of the first half";
  EXPECT_NE(rows.find("B/4.jpg"), std::string::npos);
  EXPECT_NE(text_of("t.csv").find("all images,4,"), std::string::npos);

  const Json alone =
      Json::parse(run({"saliency", "center", "--data", "cat", "--part", "second", "--json"}).out);
  EXPECT_EQ(alone["auc_judd"], json["center"]["auc_judd"]);
  EXPECT_EQ(alone["sauc"], json["center"]["sauc"]);
}

TEST_F(CliSaliency, WithFixedSettingsNothingIsSearched) {
  const auto finished = eval({"--blur", "2", "--center-weight", "10000", "--part", "all"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json json = Json::parse(finished.out);
  EXPECT_EQ(json["images"], 8);
  EXPECT_TRUE(json["search"].is_null());
  EXPECT_NEAR(json["gain"]["auc_judd"].get<double>(), 0, 0.01) << "the centre outweighs the map";
  const auto before = run({"saliency", "eval", "--data", "cat", "--size", "36x64", "--json",
                           "--part", "all", "--blur", "2", "--center-weight", "0", "m"});
  ASSERT_EQ(before.status, 0) << "the model may come last: " << before.err;
  const Json map = Json::parse(before.out);
  EXPECT_GT(std::abs(map["gain"]["auc_judd"].get<double>()), 0.02);
}

TEST_F(CliSaliency, ACentreMapFromAFile) {
  Map off(20, 20);
  off.at(0, 0) = 1;
  write_mat<double>(directory_ / "center.mat", "center", off);
  const Json wrong = Json::parse(
      run({"saliency", "center", "--data", "cat", "--center", "center.mat", "--json"}).out);
  EXPECT_LT(wrong["auc_judd"], 0.55);
  const auto other = run({"saliency", "center", "--data", "cat", "--center", "center.mat",
                          "--center-variable", "middle"});
  expect_error(other, "has no variable 'middle'; it has 'center'");
}

TEST_F(CliSaliency, PngFixationMapsOfAnyFolderAreRead) {
  std::filesystem::create_directories(directory_ / "maps");
  std::filesystem::create_directories(directory_ / "photos");
  for (const char* name : {"x", "y"}) {
    std::filesystem::copy(directory_ / "cat/Stimuli/A/1.jpg",
                          directory_ / ("photos/" + std::string(name) + ".jpg"));
    io::Image looks(kWidth, kHeight);
    looks.pixel(kWidth / 2, kHeight / 2)[0] = 255;
    looks.pixel(kWidth / 2 + 3, kHeight / 2)[1] = 255;
    io::write_image(directory_ / ("maps/" + std::string(name) + ".png"), looks);
  }
  const auto finished =
      run({"saliency", "center", "--data", "photos", "--fixations", "maps", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json json = Json::parse(finished.out);
  EXPECT_EQ(json["images"], 2);
  EXPECT_GT(json["auc_judd"], 0.98);
}

TEST_F(CliSaliency, MapsArePicturesOfTwoOrThreePanels) {
  const auto finished = run({"saliency", "map", "m", "cat/Stimuli/A", "--out", "maps", "--size",
                             "36", "--fixations", "cat/FIXATIONLOCS/A"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_NE(finished.out.find("4 images"), std::string::npos) << finished.out;
  const io::Image three = io::read_image(directory_ / "maps/1.saliency.png");
  ASSERT_EQ(
      run({"saliency", "map", "m", "cat/Stimuli/A/1.jpg", "--out", "two", "--size", "36"}).status,
      0);
  const io::Image two = io::read_image(directory_ / "two/1.saliency.png");
  EXPECT_EQ(three.height, two.height);
  EXPECT_NEAR(three.width, 1.5 * two.width, 10);
  const auto broken = run({"saliency", "map", "m", "none.jpg", "cat/Stimuli/A/1.jpg", "--out",
                           "two", "--size", "36", "--json"});
  EXPECT_EQ(broken.status, 1);
  EXPECT_EQ(Json::parse(broken.out)["failed"], 1);
}

TEST_F(CliSaliency, BadFixationFilesGetOneLine) {
  const auto center = [&] { return run({"saliency", "center", "--data", "cat"}); };
  write_mat<uint8_t>(fixations("A/2"), "other", Map(kHeight, kWidth, 1.0f));
  expect_error(center(), "A/2.mat: has no variable 'fixLocs'; it has 'other'");
  test::write_mat_file(fixations("A/2"), MAT_FT_MAT5, [](mat_t* file) {
    test::write_variable<double>(file, "fixLocs", {2, 2, 2}, {1, 0, 0, 0, 0, 0, 0, 0},
                                 MAT_COMPRESSION_NONE);
  });
  expect_error(center(), "has 3 dimensions");
  write_mat<uint8_t>(fixations("A/2"), "fixLocs", Map(kHeight, kWidth));
  expect_error(center(), "no pixel is fixated");
  const std::vector<std::byte> whole = read_file(fixations("A/3"), 1 << 20);
  write_file_atomically(fixations("A/2"), std::span(whole).first(whole.size() - 40));
  expect_error(center(), "A/2.mat: ends too early or is damaged");
  std::filesystem::remove(fixations("A/2"));
  expect_error(center(), "A/2.jpg: has no fixation map");
}

TEST_F(CliSaliency, OtherMistakesGetOneLine) {
  make_model("plain", "none");
  expect_error(eval({}, "plain"), "halting 'none'");
  Map tall(kWidth, kHeight);
  tall.at(3, 3) = 1;
  write_mat<uint8_t>(fixations("A/2"), "fixLocs", tall);
  expect_error(eval({}), "both must have one shape");
  expect_error(run({"saliency", "center", "--data", "none"}), "layout of CAT2000");
  expect_error(run({"saliency", "center"}), "--data", 2);
  expect_error(run({"saliency"}), "subcommand", 2);
  expect_error(eval({"--blur", "nan"}), "not a number from 0 to 1000", 2);
  expect_error(eval({"--center-weight", "nan"}), "not a number", 2);
  expect_error(eval({"--csv", "none/t.csv"}), "none");
}

}  // namespace
}  // namespace sact
