// Names that somebody else chose, of files and of classes, on a terminal: none of their bytes makes
// it do anything but show text, and none hides why a command failed.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>

#include "base/parallel.h"
#include "base/unicode.h"
#include "data/synthetic.h"
#include "io/image.h"
#include "support/program.h"
#include "support/random_model.h"
#include "support/temporary.h"

namespace sact {
namespace {

/// Names of one file together, or of a class each: a start of the program takes longer than all
/// else.
using Names = std::vector<std::string>;
constexpr size_t kTogether = 6;

/// Every control character there is, those of one byte and of two, in the middle of a word and with
/// what would follow it; bytes that are no character; and changes of direction.
std::vector<Names> hostile_names() {
  std::vector<Names> all = {{"\n\n\nb", "a\r\x1b[2Kok", "\x1b]0;title\x07", "a\u202eb", "a\u2028b"},
                            {"a\x9b[31mb", "\xff\xfe", "a\xc2"},
                            {}};
  for (char32_t control = 1; control < 0xa0; ++control) {
    if (control >= 0x20 && control < 0x7f) continue;
    std::string name = "a";
    append_utf8(name, control);
    if (all.back().size() == kTogether) all.emplace_back();
    all.back().push_back(name + "[31mb");
  }
  return all;
}

std::string joined(const Names& names) {
  std::string name;
  for (const std::string& one : names) name += one;
  return name;
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

/// The program in a folder with a picture and a model of six classes.
class Place {
 public:
  Place() {
    io::write_image(directory_ / "a.png", data::synthetic_sample({}, 0).image);
    write_model(directory_ / "m", spec(), test::random_weights(spec(), 1));
  }

  static ModelSpec spec() {
    ModelSpec spec = test::tiny_spec(Halting::kSact);
    spec.classes = int(kTogether);
    return spec;
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

  std::filesystem::path path(const std::string& name) const { return directory_ / name; }

 private:
  test::TemporaryDirectory directory_;
};

/// Calls it for all names, side by side.
void for_all_names(const std::function<void(const Names& names, Place& place)>& check) {
  const std::vector<Names> all = hostile_names();
  run_in_parallel(all.size(), 0, [&](size_t i) {
    SCOPED_TRACE(testing::PrintToString(all[i]));
    Place place;
    check(all[i], place);
  });
}

TEST(HostileNames, AreEnough) {
  size_t count = 0;
  for (const Names& names : hostile_names()) count += names.size();
  EXPECT_EQ(count, 64u + 8) << "control characters, and others";
  EXPECT_NE(problem_of("a\u009bb"), "");
  EXPECT_NE(problem_of("a\x9b"), "");
  EXPECT_EQ(problem_of("ä\ufffd\n"), "");
}

TEST(HostileNames, OfFilesThatAreNotThere) {
  for_all_names([](const Names& names, Place& place) {
    const auto expect_reason = [&](const std::vector<std::string>& arguments,
                                   const std::string& reason) {
      place.expect_reason(arguments, reason);
    };
    const std::string name = joined(names), none = "o such file", folder = "no such f";
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
  });
}

TEST(HostileNames, OfModelsLabelsAndPictures) {
  for_all_names([](const Names& names, Place& place) {
    const std::string name = joined(names);
    const auto run = [&](const std::vector<std::string>& arguments) {
      return place.run(arguments).status;
    };
    // JSON holds text alone, and so do labels.
    const bool text = !problem_of(name).starts_with("it is not");
    ModelSpec spec = Place::spec();
    for (size_t i = 0; i < kTogether; ++i) {
      spec.labels.push_back(text && i < names.size() ? names[i] : "label");
    }
    spec.unknown = {{text ? name : "key", "1"}};
    write_model(place.path(name), spec, test::random_weights(spec, 1));
    std::filesystem::copy_file(place.path("a.png"), place.path(name + ".png"));
    for (const std::string& one : names) {
      std::filesystem::create_directories(place.path("photos/val/" + one));
      std::ofstream(place.path("photos/val/" + one + "/1.png")) << "no image";
    }
    EXPECT_EQ(run({"info", name, "--layers"}), 0);
    EXPECT_EQ(run({"predict", name, name + ".png", "--no-pictures", "--size", "32"}), 0);
    EXPECT_EQ(run({"saliency", "map", name, name + ".png", "--size", "32", "--out", "maps"}), 0);
    EXPECT_EQ(run({"eval", name, "--data", "photos"}), 1);
    EXPECT_EQ(run({"bench", name, "--size", "32", "--rounds", "1", "--density", "1"}), 0);
    EXPECT_EQ(run({"export", name, "--out", name + ".bf16", "--dtype", "bf16"}), 0);
    EXPECT_EQ(run({"table", name + "=" + name}), 1);
  });
}

}  // namespace
}  // namespace sact
