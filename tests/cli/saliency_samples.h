// A tiny data set in the layout of CAT2000, and `sact saliency` run on it as a program.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "data/synthetic.h"
#include "io/image.h"
#include "support/mat_samples.h"
#include "support/program.h"
#include "support/temporary.h"

namespace sact::test {

inline constexpr int kHeight = 54, kWidth = 96;

/// Two categories, A and B, of images 1 to 4.
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

  void make_detector(const std::string& name, int shorter_side) {
    std::ofstream(directory_ / "detector.json")
        << R"({"units": [1, 2, 2], "width": 4, "classes": 3, "halting": "sact", "detection": {)"
        << R"("anchor_sizes": [16, 32], "proposals": 5, "shorter_side": )" << shorter_side << "}}";
    const auto made = run({"new", "--spec", "detector.json", "--halting-bias", "-1",
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

  Finished run(const std::vector<std::string>& arguments) {
    return run_sact(arguments, directory_.path());
  }

  Finished eval(std::vector<std::string> more, const std::string& model = "m") {
    std::vector<std::string> arguments = {"saliency", "eval",   model,   "--data",
                                          "cat",      "--size", "36x64", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }

  /// A mistake: one line that has `part`.
  void expect_error(const Finished& finished, const std::string& part, int status = 1) {
    EXPECT_EQ(finished.status, status) << finished.err;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    EXPECT_NE(finished.err.find(part), std::string::npos) << finished.err;
  }

  std::string text_of(const std::string& name) {
    std::ifstream file(directory_ / name);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  TemporaryDirectory directory_;
  int images_ = 0;
};

}  // namespace sact::test
