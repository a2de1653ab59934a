// Files that may not grow (ulimit -f) and disks that are full: one line, and nothing half written.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "io/image.h"
#include "support/image_samples.h"
#include "support/program.h"

namespace sact {
namespace {

namespace fs = std::filesystem;

class FullDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    io::write_image(directory_ / "p.png", test::noise_image(200, 300, 1));
    expect_made(make("m", "sact"));
    expect_made(make("plain", "none"));
  }

  static std::vector<std::string> make(const std::string& out, const std::string& halting) {
    return {"new",   "--units",      "2,2", "--stem",    "small", "--unit",
            "basic", "--width",      "8",   "--classes", "10",    "--halting",
            halting, "--input-size", "64",  "--out",     out};
  }

  void expect_made(const std::vector<std::string>& arguments) {
    const test::Finished made =
        test::Running({SACT_PROGRAM, arguments, {}, directory_.path()}).wait();
    ASSERT_EQ(made.status, 0) << made.err;
  }

  std::vector<std::string> files() {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(directory_.path())) {
      if (entry.is_regular_file()) names.push_back(entry.path().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(FullDisk, EveryCommandThatWritesSaysSoAndLeavesNothing) {
  constexpr uint64_t kLimit = 2048;  // less than any of these files, more than a message
  const std::vector<std::string> before = files();
  const std::vector<std::vector<std::string>> commands = {
      make("other", "none"),
      {"export", "m", "--dtype", "bf16", "--out", "bf16"},
      {"export", "plain", "--onnx", "plain.onnx"},
      {"baseline", "m", "--from", "plain", "--out", "base", "--data", "synthetic:size=64,count=4"},
      {"calibrate", "m", "--images", "p.png", "--out", "dialled"},
      {"predict", "m", "p.png", "--no-pictures", "--raw", "raw"},
#ifdef SACT_HAS_PICTURES
      {"predict", "m", "p.png", "--out", "pictures"},
#endif
      {"synth", "--out", "shapes", "--count", "2", "--size", "64"},
      {"generate-docs", "docs"}};
  for (const std::vector<std::string>& arguments : commands) {
    SCOPED_TRACE(arguments[0]);
    const test::Finished full =
        test::Running({SACT_PROGRAM, arguments, {}, directory_.path(), kLimit}).wait();
    EXPECT_EQ(full.status, 1) << full.err;
    const size_t error = full.err.find("sact: error: ");
    ASSERT_NE(error, std::string::npos) << full.err;
    EXPECT_NE(full.err.find("File too large", error), std::string::npos) << full.err;
    EXPECT_EQ(full.err.find('\n', error), full.err.size() - 1) << full.err;
    EXPECT_EQ(files(), before);
  }
}

TEST_F(FullDisk, ResultsThatCannotBePrintedAreAnError) {
  const auto script = [&](const std::string& text) {
    return test::Running({"/bin/sh", {"-c", text}, {"SACT=" SACT_PROGRAM}, directory_.path()})
        .wait();
  };
  const test::Finished limited = script("ulimit -f 1; $SACT info --json m > out");
  EXPECT_EQ(limited.status, 1) << limited.err;
  EXPECT_NE(limited.err.find("cannot be written to standard output: File too large"),
            std::string::npos)
      << limited.err;
  const test::Finished full = script("$SACT info m > /dev/full");
  EXPECT_EQ(full.status, 1);
  EXPECT_NE(full.err.find("No space left"), std::string::npos) << full.err;
  // Who stops reading ends the program as any other in a pipe, and files are whole or not there.
  const test::Finished piped =
      script("{ $SACT info m; echo $? > status; } | true; cat status; ls -A");
  EXPECT_TRUE(piped.out.starts_with(std::to_string(128 + SIGPIPE)) || piped.out.starts_with("0"))
      << piped.out;
  EXPECT_EQ(piped.out.find(".tmp"), std::string::npos) << piped.out;
}

}  // namespace
}  // namespace sact
