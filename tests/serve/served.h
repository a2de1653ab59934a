// Small models, and a service over them.
#pragma once

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "serve/service.h"
#include "support/program.h"
#include "support/small_detector.h"

namespace sact::test {

inline const std::string kPicture = SACT_SOURCE_DIR "/docs/images/ponder.png";

inline std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Served : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = new TemporaryDirectory;
    make({"new", "--units", "2,4", "--width", "4", "--classes", "7", "--input-size", "64",
          "--halting", "sact", "--halting-bias", "-1", "--halting-scale", "0.3", "--out",
          path("adaptive.safetensors")});
    make({"new", "--units", "1,1", "--width", "4", "--classes", "3", "--input-size", "64", "--out",
          path("plain.safetensors")});
    std::ofstream(path("spec.json")) << kSmallDetector;
    make({"new", "--spec", path("spec.json"), "--halting-bias", "-1", "--halting-scale", "0.1",
          "--out", path("finder.safetensors")});
    std::ofstream(path("spec.json")) << kSmallDetectorWithCut;
    make({"new", "--spec", path("spec.json"), "--halting-bias", "-1", "--halting-scale", "0.1",
          "--out", path("choosy.safetensors")});
    models_ = new serve::Models({path("adaptive.safetensors"), path("plain.safetensors"),
                                 path("finder.safetensors"), path("choosy.safetensors")},
                                {.threads = 1});
  }
  static void TearDownTestSuite() {
    delete models_;
    delete directory_;
  }

  static void make(const std::vector<std::string>& arguments) {
    const auto made = run_sact(arguments, directory_->path().string());
    ASSERT_EQ(made.status, 0) << made.err;
  }
  static std::string path(const std::string& name) { return (*directory_ / name).string(); }

  static inline TemporaryDirectory* directory_ = nullptr;
  static inline serve::Models* models_ = nullptr;
};

}  // namespace sact::test
