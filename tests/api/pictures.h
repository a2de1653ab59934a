// Models and pictures for the tests of the library, and what of results is compared.
#pragma once

#include <gtest/gtest.h>
#include <sact/sact.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "support/errors.h"
#include "support/program.h"
#include "support/small_detector.h"

namespace sact::test {

inline const char* const kPicture = SACT_SOURCE_DIR "/docs/images/ponder.png";
inline const char* const kTrained = SACT_SOURCE_DIR "/models/imagenette-sact.safetensors";

/// A picture in which positions differ: bright waves over a dark ground.
inline Image waves(int width, int height, int phase) {
  std::vector<uint8_t> rgb;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) {
        rgb.push_back(uint8_t(128 + 120 * std::sin(0.02 * (x + phase) * (y + 3 * c) + phase)));
      }
    }
  }
  return Image::from_pixels(width, height, rgb);
}

/// Every bit of what a network said.
inline void expect_same(const Result& found, const Result& right) {
  EXPECT_EQ(found.logits(), right.logits());
  EXPECT_EQ(found.flops(), right.flops());
  ASSERT_EQ(found.blocks().size(), right.blocks().size());
  for (size_t b = 0; b < found.blocks().size(); ++b) {
    EXPECT_EQ(found.blocks()[b].units, right.blocks()[b].units);
    EXPECT_EQ(found.blocks()[b].ponder_cost.values, right.blocks()[b].ponder_cost.values);
  }
}

class Library : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = new TemporaryDirectory;
    make_model("sact", {"--halting", "sact", "--halting-bias", "-1", "--halting-scale", "0.3"});
    make_model("plain", {});
  }
  static void TearDownTestSuite() { delete directory_; }

  static void make_model(const std::string& name, std::vector<std::string> options) {
    std::vector<std::string> arguments = {"new", "--units",      "2,4", "--width", "4", "--classes",
                                          "7",   "--input-size", "64",  "--out",   name};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto made = run_sact(arguments, directory_->path().string());
    ASSERT_EQ(made.status, 0) << made.err;
  }
  static std::string path(const std::string& name) { return (*directory_ / name).string(); }

  static inline TemporaryDirectory* directory_ = nullptr;
};

/// With a detector besides.
class LibraryDetector : public Library {
 protected:
  static void SetUpTestSuite() {
    Library::SetUpTestSuite();
    make("detector", kSmallDetector);
    make("cut_detector", kSmallDetectorWithCut);
  }
  static void make(const std::string& name, const char* spec) {
    std::ofstream(path("spec.json")) << spec;
    const auto made = run_sact({"new", "--spec", path("spec.json"), "--halting-bias", "-1",
                                "--halting-scale", "0.1", "--out", path(name)});
    ASSERT_EQ(made.status, 0) << made.err;
  }
  static Model model() { return Model::load(path("detector")); }
};

}  // namespace sact::test
