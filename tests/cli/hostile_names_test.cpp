// Names that somebody else chose, of files and of classes, on a terminal: none of their bytes makes
// it do anything but show text, and none hides why a command failed.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/unicode.h"
#include "data/synthetic.h"
#include "io/image.h"
#include "support/program.h"
#include "support/random_model.h"
#include "support/temporary.h"

namespace sact {
namespace {

/// Every control character there is, those of one byte and of two, in the middle of a word and with
/// what would follow it; bytes that are no character; and changes of direction.
std::vector<std::string> hostile_names() {
  std::vector<std::string> names;
  for (char32_t control = 1; control < 0xa0; ++control) {
    if (control >= 0x20 && control < 0x7f) continue;
    std::string name = "a";
    append_utf8(name, control);
    names.push_back(name + "[31mb");
  }
  names.insert(names.end(), {"a\x9b[31mb", "\xff\xfe", "\n\n\nb", "a\r\x1b[2Kok",
                             "\x1b]0;title\x07", "a\u202eb", "a\u2028b", "a\xc2"});
  return names;
}

/// What is wrong with the text, or nothing. Lines may end.
std::string problem_of(std::string_view text) {
  for (size_t at = 0; !text.empty(); ++at) {
    const bool replaced = text.starts_with("\ufffd");
    const char32_t character = next_character(text);
    if (character != '\n' && is_control(character)) {
      return "character " + std::to_string(at) + " is U+" + std::to_string(uint32_t(character));
    }
    if (character == kReplacementCharacter && !replaced) return "it is not UTF-8";
  }
  return {};
}

class HostileNames : public ::testing::Test {
 protected:
  void SetUp() override {
    io::write_image(directory_ / "a.png", data::synthetic_sample({}, 0).image);
  }

  test::Finished run(const std::vector<std::string>& arguments) {
    const test::Finished finished = test::run_sact(arguments, directory_.path());
    EXPECT_EQ(problem_of(finished.out), "") << finished.out;
    EXPECT_EQ(problem_of(finished.err), "") << finished.err;
    return finished;
  }

  /// Fails in one line that says why.
  void expect_reason(const std::vector<std::string>& arguments, const std::string& reason) {
    const test::Finished finished = run(arguments);
    EXPECT_NE(finished.status, 0) << testing::PrintToString(arguments);
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    EXPECT_NE(finished.err.find(reason), std::string::npos)
        << testing::PrintToString(arguments) << finished.err;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(HostileNames, ThereAreEnough) {
  EXPECT_GE(hostile_names().size(), 50u);
  EXPECT_NE(problem_of("a\u009bb"), "");
  EXPECT_NE(problem_of("a\x9b"), "");
  EXPECT_EQ(problem_of("ä\ufffd\n"), "");
}

TEST_F(HostileNames, OfFilesThatAreNotThere) {
  write_model(directory_ / "m", test::tiny_spec(Halting::kSact),
              test::random_weights(test::tiny_spec(Halting::kSact), 1));
  for (const std::string& name : hostile_names()) {
    SCOPED_TRACE(testing::PrintToString(name));
    const std::string none = "o such file", folder = "no such f";
    expect_reason({"info", name}, none);
    expect_reason({"predict", name, "a.png"}, none);
    expect_reason({"detect", name, "a.png"}, none);
    expect_reason({"eval", name, "--data", "."}, none);
    expect_reason({"bench", name}, none);
    expect_reason({"calibrate", name, "--images", "a.png", "--out", "x"}, none);
    expect_reason({"baseline", name, "--from", "m", "--result", name, "--out", "x"}, none);
    expect_reason({"export", name, "--out", "x"}, none);
    expect_reason({"import", name, "--out", "x"}, none);
    expect_reason({"new", "--spec", name, "--out", "x"}, none);
    expect_reason({"table", "a=" + name}, none);
    expect_reason({"table", name}, "expected NAME=FILE");
    expect_reason({"coco-eval", "--gt", name, "--dt", name}, none);
    expect_reason({"predict", "m", name, "--no-pictures"}, ": ");
    expect_reason({"saliency", "map", "m", name}, ": ");
    expect_reason({"eval", "m", "--data", name}, folder);
    expect_reason({"new", "--depth", "50", "--out", "no/" + name}, "irectory");
    expect_reason({name}, "no command");
    expect_reason({"info", "m", "--" + name}, "--help");
    expect_reason({"info", "m", "--size", name}, "not an image size");
#ifdef SACT_HAS_TORCH
    expect_reason({"train", "--data", name, "--out", "run"}, "");
    expect_reason({"train", "--data", "synthetic", "--out", "run", name + "=1"}, "setting");
    expect_reason({"adapt", name, "--images", "a.png", "--out", "run"}, "");
#endif
  }
}

TEST_F(HostileNames, OfModelsLabelsAndPictures) {
  ModelSpec spec = test::tiny_spec(Halting::kSact);
  spec.classes = 6;
  for (const std::string& name : hostile_names()) {
    SCOPED_TRACE(testing::PrintToString(name));
    // JSON holds text alone, and so do labels.
    const bool text = !problem_of(name).starts_with("it is not");
    spec.labels.assign(6, text ? name : "label");
    spec.unknown = {{text ? name : "key", "1"}};
    write_model(directory_ / name, spec, test::random_weights(spec, 1));
    std::filesystem::copy_file(directory_ / "a.png", directory_ / (name + ".png"));
    std::filesystem::create_directories(directory_ / "photos/val" / name);
    std::ofstream(directory_ / "photos/val" / name / "1.png") << "no image";
    EXPECT_EQ(run({"info", name, "--layers"}).status, 0);
    EXPECT_EQ(run({"predict", name, name + ".png", "--no-pictures", "--size", "32"}).status, 0);
    EXPECT_EQ(run({"saliency", "map", name, name + ".png", "--size", "32", "--out", "maps"}).status,
              0);
    EXPECT_EQ(run({"eval", name, "--data", "photos"}).status, 1);
    EXPECT_EQ(run({"bench", name, "--size", "32", "--rounds", "1", "--density", "1"}).status, 0);
    EXPECT_EQ(run({"export", name, "--out", name + ".bf16", "--dtype", "bf16"}).status, 0);
    EXPECT_EQ(run({"table", name + "=" + name}).status, 1);
    std::filesystem::remove_all(directory_ / "photos");
    std::filesystem::remove(directory_ / name);
  }
}

}  // namespace
}  // namespace sact
