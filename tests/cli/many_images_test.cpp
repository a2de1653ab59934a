// Many images through one command: on all cores, in order, a line for each, and stopped by Ctrl-C.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <csignal>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "data/synthetic.h"
#include "io/image.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "support/program.h"
#include "support/temporary.h"

namespace sact {
namespace {

using io::Json;
using test::run_sact;

constexpr int kImages = 12, kMany = 5000;

class CliManyImages : public ::testing::Test {
 protected:
  void SetUp() override {
    run({"new", "--units", "2,3", "--width", "4", "--classes", "7", "--input-size", "64",
         "--halting", "sact", "--halting-bias", "-1", "--halting-scale", "0.1", "--out", "m"});
    std::ofstream(directory_ / "spec.json")
        << R"({"units": [1, 2, 2], "width": 4, "classes": 3, "halting": "sact",
               "detection": {"shorter_side": 64, "anchor_sizes": [16, 32], "proposals": 20,
                             "proposal_channels": 8, "crop": 8, "pool": 2}})";
    run({"new", "--spec", "spec.json", "--halting-bias", "-1", "--out", "detector"});
    data::SyntheticOptions options;
    options.width = 80;
    options.height = 60;
    std::filesystem::create_directories(directory_ / "photos");
    for (int i = 0; i < kImages; ++i) {
      io::write_image(directory_ / fmt::format("photos/{:02}.png", i),
                      data::synthetic_sample(options, i).image);
    }
    std::ofstream(directory_ / "photos/05.png") << "no picture";
  }

  test::Finished run(const std::vector<std::string>& arguments, int status = 0) {
    const auto finished = run_sact(arguments, directory_.path());
    EXPECT_EQ(finished.status, status) << finished.err;
    return finished;
  }

  static std::vector<Json> lines_of(const std::string& text) {
    std::vector<Json> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(Json::parse(line));
    return lines;
  }

  /// Starts a command that would take long, and interrupts it when its first picture is there.
  test::Finished interrupted(std::vector<std::string> arguments, const std::string& suffix) {
    std::filesystem::create_directories(directory_ / "many");
    for (int i = 0; i < kMany; ++i) {
      std::filesystem::create_hard_link(directory_ / "photos/00.png",
                                        directory_ / fmt::format("many/{}.png", i));
    }
    arguments.push_back("many");
    test::Running running({SACT_PROGRAM, arguments, {}, directory_.path()});
    const auto out = directory_ / "out";
    const auto started = [&] {
      std::error_code ignored;
      for (const auto& entry : std::filesystem::directory_iterator(out, ignored)) {
        if (entry.path().string().ends_with(suffix)) return true;
      }
      return false;
    };
    while (!started() && !running.ended()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    running.send(SIGINT);
    return running.wait();
  }

  test::TemporaryDirectory directory_;
};

TEST_F(CliManyImages, JsonLinesComeInTheOrderOfTheImages) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"predict", "m"}, {"detect", "detector"}}) {
    std::vector<std::string> arguments = command;
    for (const char* more : {"photos", "--no-pictures", "--jsonl", "--threads", "3"}) {
      arguments.push_back(more);
    }
    const auto finished = run(arguments, 1);
    const std::vector<Json> lines = lines_of(finished.out);
    ASSERT_EQ(lines.size(), size_t(kImages));
    for (int i = 0; i < kImages; ++i) {
      EXPECT_EQ(lines[size_t(i)]["path"], fmt::format("photos/{:02}.png", i));
      EXPECT_EQ(lines[size_t(i)].contains("error"), i == 5);
      EXPECT_EQ(lines[size_t(i)].contains("flops"), i != 5);
    }
    EXPECT_NE(finished.err.find("11 images in"), std::string::npos)
        << "the summary stays out of the lines: " << finished.err;
  }
  EXPECT_EQ(run({"predict", "m", "photos", "--json", "--jsonl"}, 2).out, "");
}

TEST_F(CliManyImages, ResultsDoNotDependOnHowManyAreRunAtATime) {
  std::vector<float> logits[2];
  for (const size_t i : {0, 1}) {
    run({"predict", "m", "photos", "--no-pictures", "--raw", "raw", "--threads", i ? "4" : "1"}, 1);
    logits[i] = io::float_values(*io::SafetensorsFile(directory_ / "raw").find("logits"), "logits");
  }
  EXPECT_EQ(logits[0].size(), size_t((kImages - 1) * 7));
  EXPECT_EQ(logits[0], logits[1]);
}

TEST_F(CliManyImages, ShardsAddUpToTheWhole) {
  const auto ids = [&](const std::vector<std::string>& shard) {
    std::vector<std::string> arguments = {"detect", "detector", "photos", "--no-pictures",
                                          "--jsonl"};
    arguments.insert(arguments.end(), shard.begin(), shard.end());
    std::map<std::string, int64_t> found;
    for (const Json& line : lines_of(run_sact(arguments, directory_.path()).out)) {
      if (!line.contains("error")) found[line["path"]] = line["image_id"].get<int64_t>();
    }
    return found;
  };
  const auto whole = ids({});
  ASSERT_EQ(whole.size(), size_t(kImages - 1));
  std::map<std::string, int64_t> joined;
  size_t parts = 0;
  for (const char* shard : {"1/3", "2/3", "3/3"}) {
    const auto part = ids({"--shard", shard});
    parts += part.size();
    joined.insert(part.begin(), part.end());
  }
  EXPECT_EQ(parts, whole.size()) << "no image is in two parts";
  EXPECT_EQ(joined, whole) << "an image has the number that it has in the whole list";
}

TEST_F(CliManyImages, PicturesAreNotWrittenThroughPlantedLinks) {
  std::filesystem::create_directories(directory_ / "album/cats");
  std::filesystem::copy_file(directory_ / "photos/00.png", directory_ / "album/cats/1.png");
  std::filesystem::create_directories(directory_ / "elsewhere");
  std::filesystem::create_directories(directory_ / "out");
  std::filesystem::create_directory_symlink("../elsewhere", directory_ / "out/cats");
  const auto finished = run({"predict", "m", "album", "--out", "out"}, 1);
  EXPECT_NE(finished.err.find("out/cats: is a link"), std::string::npos) << finished.err;
  EXPECT_TRUE(std::filesystem::is_empty(directory_ / "elsewhere"));
}

TEST_F(CliManyImages, LongNamesHavePicturesToo) {
  const std::string name(250, 'x');
  std::filesystem::copy_file(directory_ / "photos/00.png", directory_ / (name + "a.x"));
  std::filesystem::copy_file(directory_ / "photos/00.png", directory_ / (name + "b.x"));
  const Json json =
      Json::parse(run({"predict", "m", name + "a.x", name + "b.x", "--out", "out", "--json"}).out);
  EXPECT_NE(json["images"][0]["map"], json["images"][1]["map"]);
  for (const Json& image : json["images"]) {
    EXPECT_TRUE(std::filesystem::exists(directory_ / image["map"].get<std::string>()));
  }
}

TEST_F(CliManyImages, AnInterruptedPredictEndsWithWhatWasDone) {
  const auto finished = interrupted({"predict", "m", "--out", "out", "--json"}, ".ponder.png");
  EXPECT_EQ(finished.status, 130) << finished.err;
  const Json json = Json::parse(finished.out);
  EXPECT_EQ(json["interrupted"], true);
  EXPECT_GE(json["images"].size(), 1u);
  EXPECT_LT(json["images"].size(), size_t(kMany));
  EXPECT_GT(io::read_image(directory_ / "out/overview.png").width, 200);
  for (const Json& image : json["images"]) {
    EXPECT_TRUE(std::filesystem::exists(directory_ / image["map"].get<std::string>()));
  }
}

TEST_F(CliManyImages, AnInterruptedDetectEndsWithWhatWasDone) {
  const auto finished =
      interrupted({"detect", "detector", "--out", "out", "--results", "r.json"}, ".detections.png");
  EXPECT_EQ(finished.status, 130) << finished.err;
  EXPECT_NE(finished.out.find(", interrupted"), std::string::npos) << finished.out;
  EXPECT_TRUE(std::filesystem::exists(directory_ / "r.json"));
}

TEST_F(CliManyImages, PicturesOfAnEarlierRunAreNamed) {
  run({"predict", "m", "photos/00.png", "photos/01.png", "--out", "maps"});
  EXPECT_EQ(run({"predict", "m", "photos/00.png", "photos/01.png", "--out", "maps"}).err, "")
      << "all are replaced";
  EXPECT_NE(run({"predict", "m", "photos/01.png", "--out", "maps"})
                .err.find("maps: 1 picture of an earlier run stays beside"),
            std::string::npos);
  EXPECT_EQ(run({"detect", "detector", "photos/01.png", "--out", "maps"}).err, "")
      << "those of another command cannot be mistaken";
}

}  // namespace
}  // namespace sact
